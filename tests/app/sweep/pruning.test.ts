// Searches that end jobs early. Files order what happens, not times.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SweepJob } from "../../../src/app/job/plan-job.ts";
import { STANDARD_PLUGINS } from "../../../src/app/plugins/standard-plugins.ts";
import { lookAtJob } from "../../../src/app/record/job-state.ts";
import { createPruning } from "../../../src/app/sweep/pruning.ts";
import { commandPath } from "../../e2e/command.ts";
import { optunaOrSkip } from "../../optuna.ts";
import { program } from "../cli/program.ts";

/**
 * Job 0 reports and ends; the others report the same step, worse, and wait to be ended.
 */
const PROGRAM = `#!/bin/sh
say() { echo "{\\"step\\": 1, \\"val\\": {\\"loss\\": $1}}" >>"$HYDRACONF_METRICS"; }
case $HYDRACONF_JOB_NUMBER in
0) say 1; echo 1 >"$HYDRACONF_RESULT"; exit 0 ;;
esac
say 2
trap 'exit 3' TERM
while :; do sleep 0.05; done
`;

const python = optunaOrSkip("pruners of Optuna");

const MEDIAN = [
  ...["hydra/sweeper=random", "hydra.sweeper.seed=1", "hydra.sweeper.pruner=median"],
  "hydra.sweeper.pruner_startup_jobs=1",
];

const OPTUNA = [
  ...["hydra/sweeper=optuna", "hydra.sweeper.sampler.seed=1", "hydra.sweeper.n_jobs=1"],
  "+hydra.sweeper.pruner._target_=optuna.pruners.MedianPruner",
  "+hydra.sweeper.pruner.n_startup_trials=1",
];

const search = (...overrides: readonly string[]) => searchBy(MEDIAN, ...overrides);

function searchBy(sweeper: readonly string[], ...overrides: readonly string[]) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-pruning-"));
  writeFileSync(join(cwd, "prog.sh"), PROGRAM, { mode: 0o755 });
  const run = (...argv: readonly string[]) =>
    spawnSync(process.execPath, [commandPath("hydraconf"), ...argv], {
      ...{ cwd, encoding: "utf8" },
      env: { ...process.env, PATH: `${join(cwd, "bin")}:${process.env["PATH"]}` },
    });
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin/python3"), `#!/bin/sh\nexec ${python} "$@"\n`, { mode: 0o755 });
  const first = run(
    ...["run", "-m", ...sweeper, "hydra.sweeper.n_trials=3"],
    ...["hydra.sweeper.pruner_metric=val.loss", "x=interval(0,1)", "hydra.sweep.dir=s"],
    ...[...overrides, "--", "./prog.sh", "--pass=${x}"],
  );
  const table = () => JSON.parse(readFileSync(join(cwd, "s/sweep.json"), "utf8")).jobs;
  return { cwd, first, run, table };
}

const COMPLETED = { status: "completed", returnValue: 1, error: undefined, exitCode: 0 } as const;

describe("a pruner", () => {
  test("ends jobs that are worse than others, which is no failure", () => {
    const { cwd, first, run, table } = search(
      "hydra/launcher=local",
      "hydra.launcher.n_jobs=1",
      "hydra.launcher.max_retries=2",
    );
    expect(first.stderr).toContain("1 of 3 jobs completed, 2 pruned");
    expect(first.stderr).toContain("pruned at step 1");
    expect(first.stderr).not.toContain("failed");
    expect(first.stdout).toContain("Best of 3 trials, 2 pruned: ");
    expect(first.status).toBe(0);
    expect(table()).toMatchObject([
      { status: "completed", attempts: 1 },
      { status: "pruned", attempts: 1, ended_by: { by: "pruner", step: 1 } },
      { status: "pruned", attempts: 1, ended_by: { by: "pruner", step: 1 } },
    ]);
    expect(readFileSync(join(cwd, "s/sweep.csv"), "utf8").match(/,pruned,/g)).toHaveLength(2);
    const status = run("sweep", "status", "s");
    expect([status.status, status.stdout]).toEqual([0, expect.stringContaining("2 pruned")]);
    // It has ended, and did not fail.
    for (const again of ["--resume", "--retry-failed"]) {
      const resumed = run("run", again, "s");
      expect([again, resumed.status]).toEqual([again, 0]);
      expect(lookAtJob(join(cwd, "s/.sweep"), 1)).toMatchObject({
        attempts: [{}],
        status: "pruned",
      });
    }
  });

  test("works with the launcher that runs one job after the other, and goes on in a resumed search", () => {
    const { cwd, first, run } = search();
    expect(first.status).toBe(0);
    const more = run("run", "--resume", "s", "hydra.sweeper.n_trials=+1");
    expect(more.stderr).toContain("1 of 4 jobs completed, 3 pruned");
    expect(lookAtJob(join(cwd, "s/.sweep"), 3)).toMatchObject({
      attempts: [{ ended_by: { by: "pruner", step: 1 } }],
    });
  });

  test.skipIf(python === null)("may be one of Optuna, which is asked at each step", () => {
    const { cwd, first, run, table } = searchBy(OPTUNA, "hydra/launcher=local");
    expect(first.stderr).toContain("1 of 3 jobs completed, 2 pruned");
    expect(first.status).toBe(0);
    expect(table()).toMatchObject([
      { status: "completed" },
      { status: "pruned", ended_by: { by: "pruner", step: 1 } },
      { status: "pruned", ended_by: { by: "pruner", step: 1 } },
    ]);
    const results = () => readFileSync(join(cwd, "s/optimization_results.yaml"), "utf8");
    const before = results();
    expect(before).toContain("best_value: 1.0\n");
    // The study is told again what the pruned jobs reported.
    const more = run("run", "--resume", "s", "hydra.sweeper.n_trials=+1");
    expect(more.stderr).toContain("1 of 4 jobs completed, 3 pruned");
    expect(more.status).toBe(0);
    expect(lookAtJob(join(cwd, "s/.sweep"), 1)).toMatchObject({ attempts: [{}] });
    expect(results()).toBe(before);
  });

  test("judges an attempt by what it reported itself, not by a failed one before it", () => {
    const folder = mkdtempSync(join(tmpdir(), "hydraconf-pruning-"));
    const jobs = [0, 1].map((number) => {
      const outputDir = join(folder, String(number));
      mkdirSync(outputDir);
      return { number, outputDir } as SweepJob;
    });
    const [first = jobs[0], second = jobs[1]] = jobs;
    const rule = { kind: "median", metric: "loss", direction: "minimize" } as const;
    const pruning = createPruning({ ...rule, minStep: 1, startupJobs: 1, eta: 2 }, (job) =>
      job === first ? { ...job, ...COMPLETED } : undefined,
    );
    const say = (job: SweepJob | undefined, loss: number) =>
      writeFileSync(join(job?.outputDir ?? "", "metrics.jsonl"), `{"step": 1, "loss": ${loss}}\n`);
    const look = (...running: readonly (SweepJob | undefined)[]) =>
      pruning.look(running.filter((job) => job !== undefined));
    say(first, 2);
    expect(look(first)).toEqual([]);
    say(second, 1);
    expect(look(second)).toEqual([]);
    // It fails, and runs again.
    expect(look()).toEqual([]);
    renameSync(join(folder, "1/metrics.jsonl"), join(folder, "1/metrics.jsonl.1"));
    expect(look(second)).toEqual([]);
    say(second, 3);
    expect(look(second)).toEqual([{ number: 1, step: 1 }]);
  });

  test("is refused with a launcher that cannot end jobs early", async () => {
    const open = () => ({ launch: () => expect.fail("a job was launched") });
    const own = { name: "own", targets: ["own.Launcher"], settings: [], open };
    const { run } = program(
      { "conf/config.yaml": "x: 0\nhydra:\n  sweep: {dir: s}\n" },
      { plugins: [...STANDARD_PLUGINS, { name: "own", launchers: [own] }] },
    );
    const { exitCode, stderr } = await run([
      ...["-m", "hydra/sweeper=random", "hydra.sweeper.pruner=median", "x=interval(0,1)"],
      ...["hydra.sweeper.pruner_metric=loss", "hydra.launcher._target_=own.Launcher"],
    ]);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("hydra/launcher=own cannot end jobs early"),
    ]);
  });

  test.each([
    [["hydra.sweeper.pruner_metric=null"], "hydra.sweeper.pruner_metric is missing"],
    [["hydra.sweeper.pruner=mean"], "must be median or successive_halving, not 'mean'"],
    [["hydra.sweeper.pruner=halving"], "Did you mean 'successive_halving'?"],
    [["hydra.sweeper.direction=max"], "Did you mean 'maximize'?"],
    [["hydra.sweeper.sequence=sobel"], "Did you mean 'sobol'?"],
    [["hydra.sweeper.direction=[minimize,maximize]"], "the search has several directions"],
  ])("is refused with %j", (overrides, message) => {
    const { cwd, first } = search(...overrides);
    expect([first.status, first.stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(existsSync(join(cwd, "s/0"))).toBe(false);
  });
});
