import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hydraMain } from "../../../../src/app/index.ts";

test("a search that was cut off goes on where it was, without a seed, too", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-search-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), "x: 0.0\nn: 1\nhydra: {sweep: {dir: s}}\n");
  const argv = [
    "-m",
    "hydra/sweeper=successive_halving",
    "hydra.sweeper.budget_key=n",
    "hydra.sweeper.min_budget=1",
    "hydra.sweeper.max_budget=9",
    "hydra.sweeper.n_jobs=4",
    "x=interval(0,1)",
  ];
  const run = async (resumed: boolean) => {
    const jobs: string[] = [];
    const exitCode = await hydraMain(
      { name: "prog", base: cwd, configPath: "conf", configName: "config" },
      (config, job) => {
        jobs.push(`${job.number}: ${job.overrides.join(" ")}`);
        return Math.abs(Number(config.get("x")) - 0.5) / Number(config.get("n"));
      },
      {
        argv,
        env: {},
        now: new Date(2026, 0, 2),
        cwd,
        console: { stdout: () => {}, stderr: () => {} },
        ...(resumed && {
          resumed: {
            directory: join(cwd, "s"),
            missing: true,
            failed: false,
            acceptChanges: false,
          },
        }),
      },
    );
    return {
      exitCode,
      jobs,
      results: readFileSync(join(cwd, "s/optimization_results.yaml"), "utf8"),
    };
  };
  const whole = await run(false);
  expect(whole.jobs).toHaveLength(13);
  // As if it had been killed: two of the first round and all of what followed never ran.
  for (const number of [5, 7, 9, 10, 11, 12]) rmSync(join(cwd, `s/.sweep/jobs/${number}.json`));
  rmSync(join(cwd, "s/optimization_results.yaml"));
  const rest = await run(true);
  expect(rest.jobs).toEqual([5, 7, 9, 10, 11, 12].map((number) => whole.jobs[number]));
  expect([rest.exitCode, rest.results]).toEqual([0, whole.results]);
});
