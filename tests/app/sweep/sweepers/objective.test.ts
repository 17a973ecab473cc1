/** What a search reads of what a task returned, and what it says where there is no number. */
import { describe, expect, it, test } from "vitest";
import { failedJob, type JobResult } from "../../../../src/app/job/job.ts";
import {
  type Direction,
  isWorse,
  type Objective,
  outcomeOf,
  returnedAt,
  scoreIn,
  withoutNumber,
} from "../../../../src/app/sweep/sweepers/objective.ts";
import { readYaml } from "../../../../src/engine/values/yaml/reader.ts";

const scoreOf = (returned: unknown, objective?: Objective, count = 1) =>
  scoreIn(returned, objective, count).score;
const problemOf = (returned: unknown, objective?: Objective, count = 1) => {
  const outcome = scoreIn(returned, objective, count);
  return outcome.score === null ? outcome.problem : undefined;
};

describe("the score of a job", () => {
  it.each<[string, unknown, Objective, number, readonly number[]]>([
    ["is what the task returned", 0.5, undefined, 1, [0.5]],
    ["may be an integer of any size", 3n, undefined, 1, [3]],
    ["is at a key", { loss: -1, acc: 2 }, "loss", 1, [-1]],
    ["is at a path", { eval: { loss: 4 } }, "eval.loss", 1, [4]],
    ["is at the key that has the dots itself", { "a.b": 1, a: { b: 2 } }, "a.b", 1, [1]],
    ["is at a path with such a key", { a: { "b.c": 3 } }, "a.b.c", 1, [3]],
    ["is a number for each direction", [1, 2n], undefined, 2, [1, 2]],
    ["is an array of numbers", Float64Array.of(1, 2), undefined, 2, [1, 2]],
    ["is a list at a key", { both: [1, 2] }, "both", 2, [1, 2]],
    ["is a number at each of several keys", { a: { b: 1 }, c: 2 }, ["a.b", "c"], 2, [1, 2]],
    ["is at one key of a list of them", { a: 7 }, ["a"], 1, [7]],
    ["is at a key that begins with a dot", { ".a": 5 }, ".a", 1, [5]],
    ["is at a path that begins with an empty key", { "": { a: 6 } }, ".a", 1, [6]],
  ])("%s", (_, returned, objective, count, score) => {
    expect(scoreIn(returned, objective, count)).toEqual({ score });
  });

  const returned = "the value that the task returned is not a finite number but";
  it.each<[unknown, Objective, string]>([
    [undefined, undefined, `${returned} nothing`],
    [null, undefined, `${returned} null`],
    [true, undefined, `${returned} true`],
    ["0.5", undefined, `${returned} the string '0.5'`],
    ["x".repeat(50), undefined, `${returned} the string '${"x".repeat(40)}'`],
    [{}, undefined, `${returned} an object`],
    [{ name: "a" }, undefined, `${returned} an object (there is name)`],
    [{ name: "a", loss: 1 }, undefined, `${returned} an object (there is loss)`],
    [
      { run: { eval: { loss: 1, big: 2n }, epoch: 3 }, list: [4] },
      undefined,
      `${returned} an object (there is run.epoch, run.eval.loss, run.eval.big)`,
    ],
    [{ loss: 1 }, "los", `'los' in ${returned} nothing (there is loss)`],
    [{ a: { b: 1 } }, "a.c", `'a.c' in ${returned} nothing (there is a.b)`],
    [{ a: 1 }, "a.b", `'a.b' in ${returned} nothing (there is a)`],
    [{ a: null }, "a", `'a' in ${returned} null`],
    [{ a: null }, "a.b", `'a.b' in ${returned} nothing (there is a)`],
    [null, "a", `'a' in ${returned} nothing`],
    [{ a: null, b: { c: null, d: 1 } }, "x", `'x' in ${returned} nothing (there is b.d)`],
    ["xNaN", undefined, `${returned} the string 'xNaN'`],
    ["Infinity2", undefined, `${returned} the string 'Infinity2'`],
    [5, "a", `'a' in ${returned} nothing`],
    // What every object has is none of the task's.
    [{}, "constructor.length", `'constructor.length' in ${returned} nothing`],
  ])("is none of %o at %s", (value, objective, problem) => {
    expect(scoreIn(value, objective, 1)).toEqual({ score: null, problem });
  });

  it("names at most eight keys, and ends for objects that hold each other", () => {
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`k${at}`, at]));
    expect(problemOf(many)).toContain("(there is k0, k1, k2, k3, k4, k5, k6, k7 and 2 more)");
    const self: Record<string, unknown> = { loss: 1 };
    self["self"] = { back: self };
    expect(problemOf(self)).toContain("(there is loss)");
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, "NaN", "-Infinity"])(
    "says that it is the float %s, which a record holds as text",
    (value) => {
      expect(scoreIn({ loss: value }, "loss", 1)).toEqual({
        score: null,
        problem: `'loss' in the value that the task returned is not a finite number but the float ${value}`,
        isNonFinite: true,
      });
    },
  );

  it("of an object that is written like a float is none", () => {
    expect(scoreIn({ toString: () => "NaN" }, undefined, 1)).not.toHaveProperty("isNonFinite");
    expect(problemOf(["NaN"])).toContain("an object");
  });

  it.each<[unknown, Objective, string]>([
    [undefined, undefined, "is not a list of 2 numbers but nothing"],
    [1, undefined, "is not a list of 2 numbers but 1"],
    [[1], undefined, "is not a list of 2 numbers but an object (there is 0)"],
    [[1, 2, 3], undefined, "is not a list of 2 numbers"],
    [{ a: 1 }, "b", "is not a list of 2 numbers but nothing"],
    [[1, "x"], undefined, "is not a finite number but the string 'x'"],
    [{ a: 1 }, ["a", "b"], "'b' in the value that the task returned is not a finite number"],
  ])("for two directions is none of %o at %o", (value, objective, problem) => {
    expect(scoreOf(value, objective, 2)).toBeNull();
    expect(problemOf(value, objective, 2)).toContain(problem);
  });

  it("is that of jobs alone that completed", () => {
    const place = { outputDir: "/o", overrides: [] };
    const done: JobResult = {
      ...place,
      status: "completed",
      returnValue: 3,
      error: undefined,
      exitCode: 0,
    };
    expect(outcomeOf(done, undefined, 1)).toEqual({ score: [3] });
    for (const other of [failedJob(place, new Error("x")), { ...done, exitCode: 2 }])
      expect(outcomeOf(other, undefined, 1)).toEqual({ score: null, problem: "the job failed" });
  });
});

describe("a best value beside that of an earlier results file", () => {
  const earlier = (yaml: string) => {
    const node = readYaml(yaml);
    if (node.kind !== "map") expect.unreachable();
    return node;
  };
  it.each<[Direction, number, string, boolean]>([
    ["minimize", 2, "best_value: 1", true],
    ["minimize", 1, "best_value: 1", false],
    ["minimize", 0.5, "best_value: 1", false],
    ["maximize", 2, "best_value: 1", false],
    ["maximize", 1, "best_value: 1", false],
    ["maximize", 0.5, "best_value: 1", true],
    ["minimize", 2, "name: grid", false],
    ["maximize", 0.5, "best_value: [1]", false],
  ])("to %s, %d after %s: worse is %s", (direction, value, yaml, expected) => {
    expect(isWorse(value, earlier(yaml), direction)).toBe(expected);
  });
});

test("what is read of a returned value is all of it, one key of it, or each of several", () => {
  const returned = { a: 1, b: { c: "x" } };
  expect(returnedAt(returned, undefined)).toBe(returned);
  expect(returnedAt(returned, "b.c")).toBe("x");
  expect(returnedAt(returned, ["b.c", "d"])).toEqual(["x", undefined]);
});

test("jobs without a number are told with the first problem, and with what continues the search", () => {
  const told = (problems: readonly string[], areNonFinite: boolean) => {
    const { details, message } = withoutNumber(problems, { areNonFinite, directory: "/my s" });
    return [message, details.key, details.hint];
  };
  expect(told(["a"], false)).toEqual([
    "a",
    "hydra.sweeper.objective",
    "name the key of a number in the returned values: --resume '/my s' hydra.sweeper.objective=KEY continues, keeping finished jobs; or let the task return the number: --retry-failed '/my s' runs the job again",
  ]);
  const [message, , hint] = told(["a", "b", "c"], true);
  expect(message).toBe("a (and 2 more)");
  expect(hint).toContain("--resume '/my s' hydra.sweeper.max_failure_rate=1 continues");
  expect(hint).toContain("--retry-failed '/my s' runs these jobs again");
});
