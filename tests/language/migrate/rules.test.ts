import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIALECTS, type DialectName } from "../../../src/engine/values/dialect.ts";
import { createEngine } from "../../../src/engine.ts";
import { appliesTo, RULES, versionsOf, WITHOUT_RULE } from "../../../src/language/migrate/rules.ts";
import { sharedOrSkip } from "../../shared.ts";
import { CASES, type MigrateCase } from "./cases.ts";
import { foundIn, project, runIn } from "./project.ts";

describe("the table of rules", () => {
  it("has a case for each rule, and shows each fix", () => {
    expect(CASES.map(({ rule }) => rule).sort()).toEqual(RULES.map(({ id }) => id).sort());
    const fixed = CASES.filter((one) => one.fixed !== undefined).map(({ rule }) => rule);
    expect(fixed.sort()).toEqual(
      RULES.filter(({ hasFix }) => hasFix)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it("has each field of a dialect in one rule, or a reason for none", () => {
    const inRules = RULES.flatMap(({ fields }) => fields);
    expect(new Set(inRules).size).toBe(inRules.length);
    const all = [...inRules, ...Object.keys(WITHOUT_RULE)];
    expect([...all].sort()).toEqual(Object.keys(DIALECTS["1.3"]).sort());
  });

  it("names a source and a remedy of each", () => {
    for (const { remedy, sources } of RULES) {
      expect(remedy).not.toBe("");
      expect(sources.length).toBeGreaterThan(0);
      for (const source of sources) expect(source).toMatch(/^https:\/\/(github\.com|hydra\.cc)\//);
    }
  });
});

const argsOf = ({ from, to }: MigrateCase): readonly string[] => ["--from", from, "--to", to];

/** The job's config, as it is written. */
function composed(
  folder: string,
  { tree: [configDir, configName] = ["conf", "config"] }: MigrateCase,
  dialect: string,
  overrides: readonly string[],
) {
  const engine = createEngine({ cwd: folder, env: {}, dialect: dialect as DialectName });
  return engine.compose({ configDir, configName, overrides }).toObject({ resolve: false });
}

describe("the table of changes in 1.4", () => {
  const page = readFileSync(new URL("../../../docs/migrate.md", import.meta.url), "utf8");
  const [, table = ""] = /## What of 1\.4 is found\n([\s\S]*?)\n## /.exec(page) ?? [];
  const rows = table
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split(" | "));
  const numbersIn = (text: string): readonly string[] => text.match(/\b\d{3,4}\b/g) ?? [];

  it("names every rule about 1.4, and no other", () => {
    const named = rows.flatMap(([, by = ""]) =>
      [...by.matchAll(/`([\w-]+)`/g)].map(([, id]) => id),
    );
    const about = RULES.filter((rule) => appliesTo(versionsOf(rule), "1.1", "1.4"));
    const expected = about.map(({ id }) => id).filter((id) => id !== "missing-self");
    expect(named.sort()).toEqual(expected.sort());
  });

  it("has the numbers of the rules' issues", () => {
    const numbers = new Set(numbersIn(table));
    const issues = RULES.filter((rule) => appliesTo(versionsOf(rule), "1.3", "1.4")).flatMap(
      ({ sources }) => sources.flatMap((source) => /issues\/(\d+)$/.exec(source)?.[1] ?? []),
    );
    expect(issues.filter((number) => !numbers.has(number))).toEqual([]);
  });

  const shared = sharedOrSkip("the list of changes of Hydra");
  const facts = shared === null ? "" : join(shared, "facts/hydra-releases.md");
  it.runIf(shared !== null)("has every change that is known of the versions", () => {
    const known = readFileSync(facts, "utf8")
      .split("\n")
      .flatMap((line) => numbersIn(/^\| ([^|]*)\|/.exec(line)?.[1] ?? ""));
    expect(known.length).toBeGreaterThan(30);
    const numbers = new Set(numbersIn(table));
    expect([...new Set(known)].filter((number) => !numbers.has(number))).toEqual([]);
  });
});

describe("what sources use", () => {
  const using = [
    ["obj = hydra.utils.instantiate(cfg.model)", "Sources call instantiate"],
    ["class Mine(hydra.plugins.launcher.Launcher):\n    pass", "Sources define launchers"],
    ["class Mine(\n    Callback,\n):\n    pass", "Sources define launchers"],
    ["OmegaConf.resolve(cfg)", "Sources call functions of OmegaConf"],
  ] as const;
  it.each(using)("is told: %s", async (line, told) => {
    const folder = project({ "conf/config.yaml": "x: 1\n", "a.py": `import hydra\n${line}\n` });
    const kinds = async (...args: readonly string[]) => {
      const { untold } = JSON.parse((await runIn(folder, "--json", ...args)).stdout);
      return untold.map(({ what }: { readonly what: string }) => what.slice(0, told.length));
    };
    expect(await kinds()).toEqual([told]);
    expect(await kinds("--from", "1.1", "--to", "1.3")).toEqual([]);
  });

  it("nothing is told of what only looks like it", async () => {
    const source =
      "import hydra\n# hydra.utils.instantiate(x)\nclass LauncherTest(TestCase): pass\nOmegaConf.create({})\n";
    const folder = project({ "conf/config.yaml": "x: 1\n", "a.py": source });
    expect(JSON.parse((await runIn(folder, "--json")).stdout).untold).toEqual([]);
  });
});

describe("each rule", () => {
  it.each(CASES.map((one) => [one.rule, one] as const))("%s is found", async (_, one) => {
    expect(await foundIn(project(one.files), ...argsOf(one))).toEqual(one.found);
  });

  const fixable = CASES.filter(({ fixed }) => fixed !== undefined);
  it.each(fixable.map((one) => [one.rule, one] as const))(
    "%s is mended, and all else of the files stays",
    async (_, one) => {
      const folder = project(one.files);
      const lines = [["", ""] as const, ...(one.lines ?? [])];
      const wordsOf = (line: string): readonly string[] => (line === "" ? [] : [line]);
      const compose = (dialect: string, side: 0 | 1) =>
        lines.map((line) => composed(folder, one, dialect, wordsOf(line[side])));
      const before = one.isText === true ? undefined : compose(one.from, 0);
      await foundIn(folder, ...argsOf(one), "--fix");
      for (const [name, text] of Object.entries({ ...one.files, ...one.fixed })) {
        const file = join(folder, name);
        expect(existsSync(file) ? readFileSync(file, "utf8") : null, name).toBe(text);
      }
      if (before !== undefined) expect(compose(one.to, 1)).toEqual(before);
      const left = await foundIn(folder, ...argsOf(one));
      if (one.isText !== true)
        expect(left.filter((found) => found.endsWith(` ${one.rule}`))).toEqual([]);
      // The version that the project has is not known: a second --fix must not add to the first.
      await foundIn(folder, ...argsOf(one), "--fix");
      for (const [name, text] of Object.entries({ ...one.files, ...one.fixed })) {
        const file = join(folder, name);
        expect(existsSync(file) ? readFileSync(file, "utf8") : null, name).toBe(text);
      }
    },
  );

  it("config-path is found and mended where initialize() names no directory", async () => {
    const source = (args: string) =>
      `from hydra import compose, initialize\n\nwith initialize(${args}):\n    compose(config_name="config")\n`;
    const folder = project({ "train.py": source('version_base="1.1"'), "config.yaml": "x: 1\n" });
    const range = ["--from", "1.1", "--to", "1.3"];
    expect(await foundIn(folder, ...range)).toEqual([
      "train.py:3 change version-base",
      "train.py:3 error config-path",
    ]);
    await foundIn(folder, ...range, "--fix");
    expect(readFileSync(join(folder, "train.py"), "utf8")).toBe(
      source('config_path=".", version_base="1.3"'),
    );
  });
});
