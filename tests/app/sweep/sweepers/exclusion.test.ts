import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ruleIndex, ruleValue, wantedOf } from "../../../../src/app/sweep/sweepers/exclusion.ts";
import { isSweepValue, parseOverride } from "../../../../src/engine/overrides/index.ts";
import { type ScalarValue, scalar } from "../../../../src/engine/values/node.ts";
import { fromCode } from "../../../../src/engine/values/origin.ts";
import { growth } from "../../../growth.ts";
import { runs } from "../../../runs.ts";
import { program } from "../../cli/program.ts";

describe("exclude", () => {
  const FILES = {
    "conf/config.yaml":
      "defaults: [{model: a}, _self_]\nlr: 1\ndb: {port: 1}\nhydra:\n  sweep: {dir: s}\n",
    "conf/model/a.yaml": "name: a\n",
    "conf/model/b.yaml": "name: b\n",
    "conf/model/big.yaml": "name: big\n",
  };

  async function jobsOf(args: readonly string[], files: Readonly<Record<string, string>> = FILES) {
    const { run } = program(files);
    const { exitCode, stderr, stdout } = await run(["-m", "--dry-run", "--json", ...args], () =>
      expect.unreachable(),
    );
    if (exitCode !== 0) return stderr;
    const plan: { jobs: { overrides: string[] }[] } = JSON.parse(stdout);
    return plan.jobs.map(({ overrides }) => overrides.join(" "));
  }

  describe("hydra.sweeper.exclude", () => {
    test("leaves out the jobs that agree with all of one of its maps", async () => {
      expect(
        await jobsOf(["lr=0.1,0.01", "model=a,b", "hydra.sweeper.exclude=[{lr: 0.1, model: a}]"]),
      ).toEqual(["lr=0.1 model=b", "lr=0.01 model=a", "lr=0.01 model=b"]);
    });

    test("takes wildcards, lists, numbers in any notation, and keys of a zip", async () => {
      expect(
        await jobsOf([
          "model=a,b,big",
          "+pair=zip(lr=choice(1e-4,2,3),+x=choice(w,y,z))",
          "hydra.sweeper.exclude=[{model: 'b*', lr: '0.0001'}, {model: [a, b], lr: 2.0}, {x: z}]",
        ]),
      ).toEqual(["model=a lr=0.0001 +x=w", "model=big lr=2 +x=y"]);
      expect(await jobsOf(["+x=null,n,1", "hydra.sweeper.exclude=[{x: null}]"])).toEqual([
        "+x=n",
        "+x=1",
      ]);
    });

    test("an empty text is no number", async () => {
      expect(await jobsOf(["lr=0,1", "+x=''", "hydra.sweeper.exclude=[{lr: ''}]"])).toEqual([
        "lr=0 +x=''",
        "lr=1 +x=''",
      ]);
    });

    test.each(["null", "[]"])("%s leaves nothing out", async (exclude) => {
      expect(await jobsOf(["lr=1,2", `hydra.sweeper.exclude=${exclude}`])).toEqual([
        "lr=1",
        "lr=2",
      ]);
    });

    test("its parts may be interpolations", async () => {
      const config = `${FILES["conf/config.yaml"]}  sweeper:\n    exclude: [{lr: "\${db.port}"}]\n`;
      expect(await jobsOf(["lr=1,2"], { ...FILES, "conf/config.yaml": config })).toEqual(["lr=2"]);
    });

    test("compares texts as texts, and lists as they are written", async () => {
      expect(await jobsOf(["+x=true,'true',' '", "hydra.sweeper.exclude=[{x: ' '}]"])).toEqual([
        "+x=True",
        "+x='true'",
      ]);
      expect(await jobsOf(["+x=[1],[2]", "hydra.sweeper.exclude=[{x: '[[]2]'}]"])).toEqual([
        "+x=[1]",
      ]);
    });

    test("a key that is deleted agrees with no rule", async () => {
      expect(await jobsOf(["~db.port", "lr=1,2", "hydra.sweeper.exclude=[{lr: 1}]"])).toEqual([
        "~db.port=null lr=2",
      ]);
    });

    test("stands in the config as well; it does not show where nobody sets it", async () => {
      const config = `${FILES["conf/config.yaml"]}  sweeper:\n    params: {lr: "1,2"}\n    exclude: [{lr: 2}]\n`;
      expect(await jobsOf([], { ...FILES, "conf/config.yaml": config })).toEqual(["lr=1"]);
      const { stdout } = await program(FILES).run(["--cfg", "hydra", "-p", "hydra.sweeper"]);
      expect(stdout).toMatch(/params: null\n$/);
    });

    test.each([
      ["[{lrr: 1}]", "names 'lrr', which this sweep does not set"],
      ["[1]", "must be a list of maps"],
      ["{lr: 1}", "must be a list of maps"],
      ["[{}]", "must be a list of maps"],
      ["[{lr: {a: 1}}]", "write its keys with dots"],
      ["[{lr: '*'}]", "leaves none of 2 jobs"],
    ])("%s is refused", async (exclude, problem) => {
      const stderr = await jobsOf(["lr=x,y", `hydra.sweeper.exclude=${exclude}`]);
      expect(stderr).toContain(problem);
    });
  });

  describe("a zip in a sweep", () => {
    test("groups and keys change together in the jobs; the pair itself is no key", async () => {
      const { run } = program(FILES);
      const seen: unknown[] = [];
      const { exitCode } = await run(
        ["-m", "+pair=zip(lr=choice(0.1,0.01),model=choice(b,big))", "db.port=1,2"],
        (config) => {
          seen.push([
            config.get("lr"),
            config.get("model.name"),
            config.get("db.port"),
            Object.hasOwn(Object(config.toObject()), "pair"),
          ]);
        },
      );
      expect(exitCode).toBe(0);
      expect(seen).toEqual([
        [0.1, "b", 1, false],
        [0.1, "b", 2, false],
        [0.01, "big", 1, false],
        [0.01, "big", 2, false],
      ]);
    });

    test("a later zip of the name replaces it; a key of a zip may not stand elsewhere", async () => {
      expect(await jobsOf(["p=zip(lr=choice(1,2))", "p=zip(lr=choice(3))"])).toEqual(["lr=3"]);
      expect(await jobsOf(["lr=1", "p=zip(lr=choice(1,2))"])).toContain("Two overrides set 'lr'");
      expect(await jobsOf(["p=zip(lr=choice(1))", "q=zip(++lr=choice(1))"])).toContain(
        "Two overrides set 'lr'",
      );
    });

    test("Hydra's own configuration cannot be swept in a zip, and a zip needs -m", async () => {
      expect(await jobsOf(["p=zip(hydra.verbose=choice(true,false))"])).toContain(
        "Sweeping over Hydra's configuration is not supported",
      );
      const { stderr } = await program(FILES).run(["p=zip(lr=choice(1,2))"]);
      expect(stderr).toContain("requires --multirun");
    });
  });

  test("a secret in a zip, and the best of a search that is one, stay out of what is written", async () => {
    const { cwd, run } = program(
      { "conf/config.yaml": "token: t\nlr: 1.0\nhydra: {sweep: {dir: s}}\n" },
      { schema: { properties: { token: { writeOnly: true } } } },
    );
    const { exitCode, stderr, stdout } = await run(
      [
        "-m",
        "hydra/sweeper=random",
        "hydra.sweeper.n_trials=3",
        "p=zip(token=choice(hush-hush-1,hush-hush-2),lr=choice(1,2))",
      ],
      (config) => Number(config.get("lr")),
    );
    expect([exitCode, stderr]).toEqual([0, ""]);
    const file = (name: string) => readFileSync(join(cwd, "s", name), "utf8");
    for (const text of [stdout, file("multirun.yaml"), file("optimization_results.yaml")])
      expect(text).not.toContain("hush");
    expect(file("optimization_results.yaml")).toMatch(/token: ["']?\*\*\*/);
  });
});

describe("rule index", () => {
  const ORIGIN = fromCode("test");

  const ruleOf = (wanted: Readonly<Record<string, readonly ScalarValue[]>>) =>
    new Map(
      Object.entries(wanted).map(([key, values]) => [
        key,
        wantedOf(values.map((value) => scalar(value, ORIGIN))),
      ]),
    );

  function jobOf(values: Readonly<Record<string, string>>) {
    return new Map(
      Object.entries(values).map(([key, text]) => {
        const { value } = parseOverride(`${key}=${text}`);
        if (value === undefined || isSweepValue(value)) throw new Error(`${text} is no value`);
        return [key, ruleValue(value)];
      }),
    );
  }

  test.each<[string, ScalarValue, boolean]>([
    ["1", 1n, true],
    ["1.0", 1n, true],
    ["1", "1e0", true],
    ["-0.0", 0n, true],
    ["inf", Number.POSITIVE_INFINITY, true],
    ["nan", Number.NaN, false],
    ["12", "1*", false],
    ["'1.0'", 1n, false],
    ["null", null, true],
    ["null", "null", false],
    ["'null'", null, false],
    ["true", true, true],
    ["abc", "a?c", true],
    ["abc", "a[!x-z]c", true],
    ["abc", "ab", false],
    ["number", "number 1", false],
    ["[1,2]", "*2*", true],
  ])("the value %s agrees with %o: %s", (value, wanted, agrees) => {
    expect(ruleIndex([ruleOf({ x: [wanted] })])(jobOf({ x: value }))).toBe(agrees);
  });

  test("a job agrees with many rules where it agrees with one of them", () => {
    const wanted = fc.constantFrom<ScalarValue>(1n, 2n, 1.5, "1", "a", "b", "a*", "*", "?", null);
    const rules = fc.array(
      fc
        .dictionary(fc.constantFrom("x", "y", "z"), fc.array(wanted, { maxLength: 3 }), {
          minKeys: 1,
        })
        .map(ruleOf),
      { maxLength: 8 },
    );
    const job = fc
      .dictionary(
        fc.constantFrom("x", "y", "z"),
        fc.constantFrom("1", "1.0", "2", "'1'", "a", "b", "ab", "null"),
      )
      .map(jobOf);
    fc.assert(
      fc.property(rules, job, (several, values) => {
        expect(ruleIndex(several)(values)).toBe(several.some((rule) => ruleIndex([rule])(values)));
      }),
      { numRuns: runs(1000) },
    );
  });

  test("takes time in proportion to jobs and rules, not to their product", async () => {
    const numbers = (size: number) => Array.from({ length: size }, (_, at) => at);
    const inputs = new Map(
      [500, 5_000].map((size) => [
        size,
        {
          rules: numbers(size).map((at) => ruleOf({ seed: [1n], x: [`v${at}`] })),
          jobs: numbers(size).map((at) => jobOf({ seed: "1", x: `w${at}` })),
        },
      ]),
    );
    const search = (size: number) => {
      const { rules = [], jobs = [] } = inputs.get(size) ?? {};
      const agrees = ruleIndex(rules);
      expect(jobs.filter(agrees)).toEqual([]);
    };
    expect(await growth(search, 500)).toBeLessThan(40);
  });
});
