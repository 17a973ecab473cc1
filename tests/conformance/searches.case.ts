// Seeded searches of Hydra's optuna sweeper, recorded with whole processes: the same jobs, results and ends.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toObject } from "../../src/engine/values/plain-objects.ts";
import { readYaml } from "../../src/engine/values/yaml/reader.ts";
import { program } from "../app/cli/program.ts";
import { optunaOrSkip } from "../optuna.ts";
import { corpusDir } from "../shared.ts";

/** A recorded search. */
interface Search {
  readonly id: string;
  readonly args: readonly string[];
  readonly jobs: readonly {
    readonly overrides: readonly string[];
    readonly returned: number | readonly number[];
  }[];
  readonly results?: unknown;
  readonly error?: string;
  readonly exit_code?: number;
}

/** `HYDRACONF_SEARCHES` names a file that `record_searches.py` has recorded with another Optuna. */
const recording =
  process.env["HYDRACONF_SEARCHES"] ?? join(corpusDir("conformance-optuna"), "searches.jsonl");

/** That Optuna is on the path of Python's modules. */
const environment = Object.fromEntries(
  ["PYTHONPATH", "OMP_NUM_THREADS"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

const searches = readFileSync(recording, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Search);

const python = optunaOrSkip("recorded searches of Hydra's optuna sweeper", true);

/** The application has no config. Values are told as they were returned to Hydra, by the number of the job. */
async function search({ args, jobs }: Search) {
  const { cwd, run } = program(
    { "hydraconf.yaml": `python: ${python}\n` },
    { configPath: null, configName: null, settingsFiles: true },
  );
  const asked: (readonly string[])[] = [];
  const { exitCode, stderr } = await run(
    ["-m", ...args, "hydra.sweep.dir=s"],
    (_, { number = 0, overrides }) => {
      asked.push(overrides);
      return jobs[number]?.returned;
    },
    environment,
  );
  const file = join(cwd, "s/optimization_results.yaml");
  const results = existsSync(file) ? toObject(readYaml(readFileSync(file, "utf8"))) : undefined;
  return { exitCode, jobs: asked, results, stderr };
}

const isGrid = ({ args }: Search) => args.includes("hydra/sweeper/sampler=grid");

/** The first search of each sampler. */
export function someSearches(): readonly Search[] {
  const seen = new Set<string>();
  return searches.filter(({ args }) => {
    const sampler = args.find((arg) => arg.startsWith("hydra/sweeper/sampler=")) ?? "";
    const isFirst = !seen.has(sampler);
    seen.add(sampler);
    return isFirst;
  });
}

export const allSearches = (): readonly Search[] => searches;

export function searchCases(chosen: readonly Search[]): void {
  describe.skipIf(python === null)("recorded searches", () => {
    const named = (some: readonly Search[]) => some.map((one) => [one.id, one] as const);

    test.each(named(chosen.filter((one) => !isGrid(one))))("%s", async (_, recorded) => {
      const { exitCode, jobs, results, stderr } = await search(recorded);
      expect(jobs, stderr).toEqual(recorded.jobs.map(({ overrides }) => overrides));
      expect(exitCode, stderr).toBe(recorded.exit_code ?? 0);
      expect(results).toEqual(recorded.results);
    });

    // The plugin cannot give this sampler a seed: only the points are the same.
    test.each(named(chosen.filter(isGrid)))("%s, in any order", async (_, recorded) => {
      const { exitCode, jobs, stderr } = await search(recorded);
      const points = (some: readonly (readonly string[])[]) => some.map(String).sort();
      expect(points(jobs), stderr).toEqual(points(recorded.jobs.map(({ overrides }) => overrides)));
      expect(exitCode).toBe(0);
    });
  });
}
