import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError, type ErrorCode } from "../../src/engine/values/errors.ts";
import { tooManyAccepted } from "./accepted.ts";
import type { CorpusCase } from "./corpus.ts";
import { judge } from "./judge.ts";
import { fileRow } from "./print.ts";
import { type FileResult, type ReplayRequest, replay } from "./replay.ts";
import type { Suite } from "./suite.ts";
import { summarize } from "./summary.ts";

let corpus: string;
let shared: string;

beforeEach(() => {
  corpus = mkdtempSync(join(tmpdir(), "corpus-"));
  shared = mkdtempSync(join(tmpdir(), "shared-"));
});

afterEach(() => {
  for (const dir of [corpus, shared]) rmSync(dir, { recursive: true });
});

/** Doubles a number; refuses negative ones; cannot be run on anything else. */
const doubling: Suite = {
  name: "doubling",
  matches: (path) => path.endsWith("double.jsonl"),
  run(testCase, env) {
    if (testCase["companion"] !== undefined) env.companion(String(testCase["companion"]));
    const { input } = testCase;
    if (typeof input !== "number") throw new Error("no number");
    return judge(testCase, testCase["value"], () => double(input));
  },
};

function double(input: number): number {
  if (input < 0)
    throw new ConfigError({ code: "value.wrong_type", message: `'${input}' is negative` });
  return input * 2;
}

describe("replay", () => {
  it("passes what is equal and fails what is not", async () => {
    write("a/double.jsonl", { id: "1", input: 2, value: 4 }, { id: "2", input: 2, value: 5 });
    const [file] = await results();
    expect(file).toMatchObject({ path: "a/double.jsonl", cases: 2, suite: "doubling" });
    expect(file?.passed.map(({ id }) => id)).toEqual(["1"]);
    expect(file?.failures.map((failure) => failure.case.id)).toEqual(["2"]);
    expect(summarize(await results(), false).ok).toBe(false);
  });

  it("fails a refusal that was not expected, and a result where a refusal was", async () => {
    write(
      "double.jsonl",
      { id: "1", input: -2, value: -4 },
      expectError("2", 2, "ValidationError"),
    );
    const [file] = await results();
    expect(file?.failures.map(({ outcome }) => outcome.why)).toEqual([
      "refused: '-2' is negative",
      "should have been refused",
    ]);
  });

  it("fails a case that cannot be run, and a line that is no case", async () => {
    write("double.jsonl", { id: "1", input: "x" }, { input: 1 }, "not an object");
    const [file] = await results();
    expect(file?.failures[0]?.outcome.why).toMatch(/^could not be run: no number/);
    expect(file?.problems).toHaveLength(2);
  });

  it("fails when a file holds no case or nothing is replayed at all", async () => {
    write("double.jsonl");
    expect(summarize(await results(), false).problems).toContain("double.jsonl: holds no case");
    expect(summarize(await results({ only: /nothing/ }), true).ok).toBe(false);
  });

  it("lists files without a suite, which fail the run only when nothing chose them", async () => {
    write("double.jsonl", { id: "1", input: 1, value: 2 });
    write("other.jsonl", { id: "1" });
    const files = await results();
    expect(files.map(fileRow).join("\n")).toContain("no suite yet");
    expect(summarize(files, false).ok).toBe(false);
    expect(summarize(files, true).ok).toBe(true);
  });

  it("chooses files by a pattern and cases by their id", async () => {
    write("a/double.jsonl", { id: "1", input: 1, value: 2 });
    write("b/double.jsonl", { id: "1", input: 1, value: 2 }, { id: "2", input: 1, value: 3 });
    expect((await results({ only: /^a/ })).map(({ path }) => path)).toEqual(["a/double.jsonl"]);
    const [chosen, ...others] = await results({ caseId: "2" });
    expect(chosen).toMatchObject({ path: "b/double.jsonl", cases: 1, passed: [] });
    expect(others).toEqual([]);
  });

  it("looks for companions in the corpus, then in the shared one", async () => {
    const companion = "conf/x.yaml";
    write("double.jsonl", { id: "1", input: 1, value: 2, companion });
    expect((await results())[0]?.failures[0]?.outcome.why).toContain(companion);
    mkdirSync(join(shared, "conf"));
    writeFileSync(join(shared, companion), "");
    expect((await results())[0]?.passed).toHaveLength(1);
  });

  it("runs the cases of a suite side by side when it says so", async () => {
    const inputs = Array.from({ length: 20 }, (_, input) => ({
      id: `${input}`,
      input,
      value: input * 2,
    }));
    write("double.jsonl", ...inputs);
    let [running, most] = [0, 0];
    const slow: Suite = {
      ...doubling,
      concurrency: 4,
      async run(testCase, env) {
        most = Math.max(most, ++running);
        await new Promise((done) => setTimeout(done, 1));
        running--;
        return doubling.run(testCase, env);
      },
    };
    expect((await results({ suites: [slow] }))[0]?.passed).toHaveLength(20);
    expect(most).toBe(4);
  });
});

describe("expected errors", () => {
  it.each<[string, string, ErrorCode, string, boolean]>([
    ["ValidationError", "", "value.wrong_type", "bad", true],
    ["ValidationError", "", "yaml.syntax", "bad", false],
    ["TypeError", "anything", "yaml.syntax", "an accident", true],
    ["ConfigKeyError", "Key 'z' is not in struct\n    full_key: a.z", "value.struct", "a.z", true],
    ["ConfigKeyError", "Key 'z' is not in struct\n    full_key: a.z", "value.struct", "z", false],
    ["ScannerError", 'x\n  in "<s>", line 3, column 1:', "yaml.syntax", "wrong at line 3", true],
    ["ScannerError", 'x\n  in "<s>", line 3, column 1:', "yaml.syntax", "wrong at line 2", false],
    [
      "MissingMandatoryValue",
      "Missing mandatory value: a.b",
      "value.missing",
      "a.b is missing",
      true,
    ],
    ["MissingMandatoryValue", "Missing mandatory value: a.b", "value.missing", "missing", false],
    [
      "OverrideParseException",
      "TypeError while evaluating 'sort({a: 1},b)': Invalid: ({'a': 1}, 'b')",
      "override.function",
      "in sort({a: 1},b): wrong, as {'a': 1}, 'b'",
      true,
    ],
    ["InterpolationResolutionError", "no '\\\\1\\n'", "resolver.failed", "no '\\1\n'", true],
    ["InterpolationResolutionError", "no '\\\\1\\n'", "resolver.failed", "no '1\n'", false],
  ])("%s (%s) against %s: %s", (error, message, code, ours, passes) => {
    const outcome = judge({ id: "1", ok: false, error, message }, undefined, () => {
      throw new ConfigError({ code, message: ours });
    });
    expect(outcome.pass).toBe(passes);
  });

  it("never accept an uncoded error, not even for an accident", () => {
    const outcome = judge({ id: "1", ok: false, error: "TypeError" }, undefined, () => {
      throw new TypeError("ours crashed as well");
    });
    expect(outcome.pass).toBe(false);
  });

  it("compare the place of an error in an override", () => {
    const message = "extraneous input ']' expecting <EOF>";
    const at = (start: number) =>
      judge({ id: "1", ok: false, error: "OverrideParseException", message }, undefined, () => {
        const origin = { kind: "override", text: "a=1]", index: 0, start } as const;
        throw new ConfigError({ code: "override.syntax", message: "wrong", origin });
      }).pass;
    expect(at(3)).toBe(true);
    expect(at(2)).toBe(false);
  });
});

describe("accepted differences", () => {
  it("may be one in a hundred", () => {
    expect(tooManyAccepted(1, 100)).toBe(false);
    expect(tooManyAccepted(2, 100)).toBe(true);
    expect(tooManyAccepted(1, 99)).toBe(true);
  });
});

const expectError = (id: string, input: number, error: string): CorpusCase => ({
  id,
  input,
  ok: false,
  error,
});

function write(path: string, ...cases: readonly unknown[]): void {
  mkdirSync(dirname(join(corpus, path)), { recursive: true });
  const lines = cases.map((testCase) => `${JSON.stringify(testCase)}\n`);
  writeFileSync(join(corpus, path), lines.join(""));
}

async function results(request: Partial<ReplayRequest> = {}): Promise<readonly FileResult[]> {
  const files: FileResult[] = [];
  const all = { corpus, fallback: shared, suites: [doubling], ...request };
  for await (const file of replay(all)) files.push(file);
  return files;
}
