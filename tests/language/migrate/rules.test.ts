import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIALECTS, type DialectName } from "../../../src/engine/values/dialect.ts";
import { createEngine } from "../../../src/engine.ts";
import { RULES, WITHOUT_RULE } from "../../../src/language/migrate/rules.ts";
import { CASES, type MigrateCase } from "./cases.ts";
import { foundIn, project } from "./project.ts";

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
});
