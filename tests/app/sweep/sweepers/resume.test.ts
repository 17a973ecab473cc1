import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hydraMain } from "../../../../src/app/cli/hydra-main.ts";
import type { ResumedSweep } from "../../../../src/app/job/process/invocation.ts";
import { readJobState } from "../../../../src/app/record/job-state.ts";
import { readManifest } from "../../../../src/app/record/manifest.ts";
import { NO_ACTIVITY, sweepRows } from "../../../../src/app/sweep/job-status.ts";
import { recordedExitCode } from "../../../../src/app/sweep/status.ts";
import { program } from "../../cli/program.ts";
import { forgetJob } from "../../record/written.ts";

/** Nine trials, the best three of them with more, the best one with the most. */
const SEARCH = [
  "-m",
  "hydra/sweeper=successive_halving",
  "hydra.sweeper.budget_key=n",
  "hydra.sweeper.min_budget=1",
  "hydra.sweeper.max_budget=9",
  "hydra.sweeper.n_jobs=4",
  "x=interval(0,1)",
];

interface Played {
  readonly exitCode: number;
  /** The jobs that ran: number and overrides. */
  readonly jobs: readonly string[];
  readonly results: string;
}

/** A program whose searches run in this process. */
function searching(argv: readonly string[] = SEARCH) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-search-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), "x: 0.0\nn: 1\nhydra: {sweep: {dir: s}}\n");
  const run = async (
    resumed?: Partial<ResumedSweep>,
    fails: (x: number) => boolean = () => false,
  ): Promise<Played> => {
    const jobs: string[] = [];
    const exitCode = await hydraMain(
      { name: "prog", base: cwd, configPath: "conf", configName: "config" },
      (config, job) => {
        const x = Number(config.get("x"));
        jobs.push(`${job.number}: ${job.overrides.join(" ")}`);
        if (fails(x)) throw new Error("boom");
        return Math.abs(x - 0.5) / Number(config.get("n"));
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
            missing: false,
            failed: false,
            acceptChanges: false,
            ...resumed,
          },
        }),
      },
    );
    const file = join(cwd, "s/optimization_results.yaml");
    return { exitCode, jobs, results: readFileSync(file, "utf8") };
  };
  return { cwd, run };
}

test("a search that was cut off goes on where it was, without a seed, too", async () => {
  const { cwd, run } = searching();
  const whole = await run();
  expect(whole.jobs).toHaveLength(13);
  // As if it had been killed: two of the first round and all of what followed never ran.
  for (const number of [5, 7, 9, 10, 11, 12]) forgetJob(join(cwd, "s/.sweep"), number);
  rmSync(join(cwd, "s/optimization_results.yaml"));
  const rest = await run({ missing: true });
  expect(rest.jobs).toEqual([5, 7, 9, 10, 11, 12].map((number) => whole.jobs[number]));
  expect([rest.exitCode, rest.results]).toEqual([0, whole.results]);
});

test("a trial that succeeds after all takes part; no trial has the result of another", async () => {
  const argv = [...SEARCH, "hydra.sweeper.seed=7", "hydra.sweeper.max_failure_rate=0.5"];
  const whole = await searching(argv).run();
  const overridesOf = (job = "") => job.slice(job.indexOf(" ") + 1);
  const best = Number(/x=([\d.e-]+)/.exec(whole.jobs[12] ?? "")?.[1]);
  const { cwd, run } = searching(argv);
  const first = await run(undefined, (x) => x === best);
  expect(first.results).not.toBe(whole.results);
  const retried = await run({ failed: true });
  expect([retried.exitCode, retried.results]).toEqual([0, whole.results]);
  const failed = whole.jobs.findIndex((job) => job.includes(`x=${best} `));
  // The one that failed, and with more what it had not had yet: nothing that was done.
  expect(retried.jobs).toEqual([whole.jobs[failed], `13: x=${best} n=3`, `14: x=${best} n=9`]);
  const manifest = readManifest(join(cwd, "s/.sweep"));
  const asRun = [...first.jobs, ...retried.jobs.slice(1)].map(overridesOf).sort();
  expect(manifest.jobs.map(({ task_overrides }) => task_overrides.join(" ")).sort()).toEqual(asRun);
  for (const { number, result, swept } of sweepRows(join(cwd, "s"), NO_ACTIVITY)) {
    expect(result).toBe(Math.abs(Number(swept["x"]) - 0.5) / Number(swept["n"]));
    const saved = readFileSync(join(cwd, `s/${number}/.hydra/overrides.yaml`), "utf8");
    expect(saved).toContain(`- x=${swept["x"]}\n- n=${swept["n"]}\n`);
  }
  expect(recordedExitCode(join(cwd, "s/.sweep"), manifest)).toBe(0);
  const again = await run({ missing: true, failed: true });
  expect([again.jobs, again.results]).toEqual([[], whole.results]);
});

test("what a search asks for no more, and never ended, fails nothing", async () => {
  const argv = [...SEARCH, "hydra.sweeper.seed=7", "hydra.sweeper.max_failure_rate=0.5"];
  const whole = await searching(argv).run();
  const best = Number(/x=([\d.e-]+)/.exec(whole.jobs[12] ?? "")?.[1]);
  const { cwd, run } = searching(argv);
  const first = await run(undefined, (x) => x === best);
  const last = Number(/^\d+/.exec(first.jobs[12] ?? "")?.[0]);
  forgetJob(join(cwd, "s/.sweep"), last);
  expect((await run({ failed: true })).results).toBe(whole.results);
  const manifest = readManifest(join(cwd, "s/.sweep"));
  expect(manifest.jobs.find(({ number }) => number === last)?.left_out).toBe(true);
  expect(recordedExitCode(join(cwd, "s/.sweep"), manifest)).toBe(0);
  expect(sweepRows(join(cwd, "s"), NO_ACTIVITY).map(({ number }) => number)).not.toContain(last);
});

test("another space than the one that was recorded is refused unless told otherwise", async () => {
  const { cwd, run } = searching([...SEARCH.slice(0, -1), "hydra.sweeper.seed=7"]);
  const write = (space: string) =>
    writeFileSync(
      join(cwd, "conf/config.yaml"),
      `x: 0.0\nn: 1\nhydra: {sweep: {dir: s}, sweeper: {params: {x: "${space}"}}}\n`,
    );
  write("interval(0,1)");
  await run();
  write("interval(0,2)");
  expect(await run({ missing: true })).toMatchObject({ exitCode: 1, jobs: [] });
  const other = await run({ missing: true, acceptChanges: true });
  expect(other.exitCode).toBe(0);
  expect(other.jobs).toHaveLength(13);
  expect(other.jobs[0]).toMatch(/^13: /);
});

test("judged by another number, a search may ask for other jobs, and gets them", async () => {
  const { cwd, run } = program({
    "conf/config.yaml": "x: 0.0\nn: 1\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
  });
  const play = async (...argv: readonly string[]) => {
    const jobs: string[] = [];
    const outcome = await run(argv, (config, job) => {
      jobs.push(job.overrides.join(" "));
      const x = Number(config.get("x"));
      return { loss: x, acc: x };
    });
    return { ...outcome, jobs };
  };
  const first = await play(...SEARCH, "hydra.sweeper.seed=7", "hydra.sweeper.objective=loss");
  const again = await play(
    "--resume",
    "s",
    "hydra.sweeper.objective=acc",
    "hydra.sweeper.direction=maximize",
  );
  expect([first.exitCode, again.exitCode, again.stderr]).toEqual([0, 0, ""]);
  const best = (jobs: readonly string[]) => jobs.filter((job) => job.includes("n=9"));
  expect(again.jobs.filter((job) => job.includes("n=1"))).toEqual([]);
  expect(best(again.jobs)).not.toEqual(best(first.jobs));
  expect(readFileSync(join(cwd, "s/optimization_results.yaml"), "utf8")).toContain(
    best(again.jobs)[0]?.split(" ")[0]?.replace("=", ": "),
  );
});

test("jobs that returned no number run again with --retry-failed, and no others", async () => {
  const { cwd, run } = program({
    "conf/config.yaml": "x: 0.0\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
  });
  const search = ["-m", "hydra/sweeper=random", "hydra.sweeper.n_trials=4", "x=interval(0,1)"];
  const play = async (isMended: boolean, ...argv: readonly string[]) => {
    const jobs: (number | undefined)[] = [];
    const outcome = await run(argv, (config, { number }) => {
      jobs.push(number);
      return isMended || number === 2 ? { loss: config.get("x") } : { los: config.get("x") };
    });
    return { ...outcome, jobs };
  };
  const first = await play(false, ...search, "hydra.sweeper.objective=loss");
  expect([first.exitCode, first.jobs]).toEqual([1, [0, 1, 2, 3]]);
  expect(first.stderr).toContain(
    "job #0: 'loss' in the value that the task returned is not a finite number",
  );
  expect(first.stderr).toContain(
    `let the task return the number: --retry-failed ${join(cwd, "s")} runs these jobs again`,
  );
  const resumed = await play(true, "--resume", "s");
  expect([resumed.exitCode, resumed.jobs]).toEqual([1, []]);
  const retried = await play(true, "--retry-failed", "s");
  expect([retried.exitCode, retried.jobs, retried.stderr]).toEqual([0, [0, 1, 3], ""]);
  for (const number of [0, 1, 3])
    expect(readJobState(join(cwd, "s/.sweep"), number)?.attempts).toMatchObject([
      {
        exit_code: 0,
        error: expect.stringContaining("'loss' in the value that the task returned"),
      },
      { exit_code: 0, error: null },
    ]);
  expect((await play(true, "--resume", "s", "--retry-failed", "s")).jobs).toEqual([]);
  expect(readFileSync(join(cwd, "s/optimization_results.yaml"), "utf8")).toContain("best_value");
});

test("where the objective is corrected at the same time, only what still has no number runs again", async () => {
  const { run } = program({
    "conf/config.yaml": "x: 0.0\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
  });
  const search = ["-m", "hydra/sweeper=random", "hydra.sweeper.n_trials=3", "x=interval(0,1)"];
  const jobs: (number | undefined)[] = [];
  const play = (...argv: readonly string[]) =>
    run(argv, (config, { number }) => {
      jobs.push(number);
      return number === 1 && jobs.length < 4 ? {} : { loss: config.get("x") };
    });
  expect((await play(...search, "hydra.sweeper.objective=los")).exitCode).toBe(1);
  const retried = await play("--retry-failed", "s", "hydra.sweeper.objective=loss");
  expect([retried.exitCode, jobs]).toEqual([0, [0, 1, 2, 1]]);
});

test("a search that gets fewer trials than it had says that the others do not count", async () => {
  const { run } = program({
    "conf/config.yaml": "x: 0.0\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
  });
  const search = ["-m", "hydra/sweeper=random", "hydra.sweeper.n_trials=4", "x=interval(0,1)"];
  const play = (...argv: readonly string[]) => run(argv, (config) => config.get("x"));
  expect((await play(...search)).stderr).not.toContain("do not count");
  const fewer = await play("--resume", "s", "hydra.sweeper.n_trials=1");
  expect(fewer.stdout + fewer.stderr).toContain("3 jobs of this sweep are none of those");
  const again = await play("--resume", "s", "hydra.sweeper.n_trials=4");
  expect(again.stdout + again.stderr).not.toContain("do not count");
});
