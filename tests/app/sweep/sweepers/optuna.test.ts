import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { HydraMainOptions } from "../../../../src/app/cli/check-main.ts";
import type { Task } from "../../../../src/app/job/job.ts";
import { optunaOrSkip } from "../../../optuna.ts";
import { program } from "../../cli/program.ts";

const python = optunaOrSkip("the sweeper of Optuna");

/** As public templates write it. */
const TEMPLATE = `# @package _global_
defaults: [{override /hydra/sweeper: optuna}]
optimized_metric: val/acc_best
hydra:
  mode: MULTIRUN
  sweeper:
    _target_: hydra_plugins.hydra_optuna_sweeper.optuna_sweeper.OptunaSweeper
    storage: null
    study_name: null
    n_jobs: 1
    direction: maximize
    n_trials: 13
    sampler:
      _target_: optuna.samplers.TPESampler
      seed: 1234
      n_startup_trials: 10
    params:
      model.lr: interval(0.0001, 0.1)
      batch_size: choice(32, 64, 128, 256)
      depth: range(2, 6)
`;

const FILES = {
  "hydraconf.yaml": `python: ${python}\n`,
  "conf/config.yaml":
    "x: 0.0\nk: a\ndepth: 1\nbatch_size: 1\nmodel: {lr: 0.1}\noptimized_metric: null\nhydra:\n  sweep: {dir: s, subdir: '${hydra:job.num}'}\n",
  "conf/hparams_search/template.yaml": TEMPLATE,
  "conf/old.yaml":
    "defaults: [config]\nhydra:\n  sweeper:\n    search_space: {x: {type: float, low: 0, high: 1}, k: {type: categorical, choices: [a, b]}}\n",
  "space.py":
    "def extend(config, trial):\n    if trial.params['k'] == 'b':\n        trial.suggest_float('+extra', 0, config.batch_size)\n",
};

const OPTUNA = ["-m", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=6"];
const SEEDED = [...OPTUNA, "hydra.sweeper.sampler.seed=4"];

const square: Task = (config) => (Number(config.get("x")) - 0.25) ** 2;

/** A program whose calls share a directory; its jobs are noted. */
function searches(options: Partial<HydraMainOptions> = {}) {
  const app = program(FILES, { settingsFiles: true, ...options });
  return {
    cwd: app.cwd,
    async search(argv: readonly string[], task: Task = square, dir = "s") {
      const jobs: string[] = [];
      const outcome = await app.run([...argv], (config, job) => {
        jobs.push(`${job.number} ${job.overrides.join(" ")}`);
        return task(config, job);
      });
      const file = join(app.cwd, dir, "optimization_results.yaml");
      const results = existsSync(file) ? readFileSync(file, "utf8") : undefined;
      return { ...outcome, jobs, results };
    },
  };
}

const search = (argv: readonly string[], task?: Task) => searches().search(argv, task);

describe.skipIf(python === null)("hydra/sweeper=optuna", () => {
  test("asks for batches of n_jobs, and logs and writes what Hydra's plugin does", async () => {
    const { exitCode, jobs, results, stderr, stdout } = await search([
      ...SEEDED,
      "x=interval(-1,1)",
      "k=b",
    ]);
    expect([exitCode, jobs.length], stderr).toEqual([0, 6]);
    expect(jobs.every((job) => /^\d x=\S+ k=b$/.test(job))).toBe(true);
    expect(stdout.match(/Launching \d jobs locally/g)).toEqual(
      [2, 2, 2].map((count) => `Launching ${count} jobs locally`),
    );
    expect(stdout).toMatch(
      /Study name: no-name-\S+\n.*Storage: None\n.*Sampler: TPESampler\n.*Directions: \['minimize'\]\n/,
    );
    const [, x, value] =
      /^name: optuna\nbest_params:\n {2}x: (\S+)\nbest_value: (\S+)\n$/.exec(results ?? "") ?? [];
    expect(value).toBe(String((Number(x) - 0.25) ** 2));
    expect(stdout).toContain(`Best parameters: {'x': ${x}}\n`);
    expect(stdout).toContain(`Best value: ${value}\n`);
  });

  test("the configs of public templates work unchanged", async () => {
    const { exitCode, jobs, results, stderr } = await search(
      ["+hparams_search=template"],
      (config) => Number(config.get("model.lr")) + Number(config.get("depth")),
    );
    expect([exitCode, jobs.length], stderr).toEqual([0, 13]);
    expect(jobs[0]).toMatch(
      /^0 model\.lr=0\.\d+ batch_size=\d+ depth=\d \+hparams_search=template$/,
    );
    expect(results).toMatch(/batch_size: \d+\n {2}depth: 6\n/);
  });

  test("a Python function extends the space", async () => {
    const space = [
      "hydra.sweeper.custom_search_space=space.extend",
      "batch_size=8",
      "k=a,b",
      "x=interval(0,1)",
    ];
    const { exitCode, jobs, stderr } = await search([...SEEDED, ...space]);
    expect([exitCode, jobs.length], stderr).toEqual([0, 6]);
    for (const job of jobs) expect(job.includes("+extra=")).toBe(job.includes("k=b"));
    expect(jobs.some((job) => job.includes("k=b"))).toBe(true);
    const wrong = await search([
      ...SEEDED,
      "hydra.sweeper.custom_search_space=space.other",
      "x=interval(0,1)",
    ]);
    expect([wrong.exitCode, wrong.jobs]).toEqual([1, []]);
    expect(wrong.stderr).toContain("module 'space' has no attribute 'other'");
  });

  test("without a seed, too, a sweep that was stopped asks for the same jobs and goes on", async () => {
    const { search } = searches();
    const argv = [...OPTUNA, "x=interval(0,1)"];
    let left = 3;
    const first = await search([...argv], (config, job) => {
      if (left-- <= 0) throw new Error("stop");
      return square(config, job);
    });
    expect([first.exitCode, first.jobs.length]).toEqual([1, 4]);
    const second = await search(["--retry-failed", "s"]);
    expect([second.exitCode, second.jobs[0]], second.stderr).toEqual([0, first.jobs[3]]);
    expect(second.jobs).toHaveLength(3);
    const again = await search(["--resume", "s"]);
    expect([again.exitCode, again.jobs, again.results]).toEqual([0, [], second.results]);
  });

  test("a sweep that was stopped ends as one that was not", async () => {
    const argv = [...SEEDED, "hydra.sweeper.sampler.n_startup_trials=2", "x=interval(0,1)"];
    const whole = await search(argv);
    const stopped = searches();
    let left = 3;
    const first = await stopped.search(argv, (config, job) => {
      if (left-- <= 0) throw new Error("stop");
      return square(config, job);
    });
    const second = await stopped.search(["--retry-failed", "s"]);
    expect([...first.jobs.slice(0, 3), ...second.jobs], second.stderr).toEqual(whole.jobs);
    expect(second.results).toBe(whole.results);
  });

  test("a study in a storage goes on, in another sweep and when a sweep is resumed", async () => {
    const { cwd, search } = searches();
    const stored = [
      "hydra.sweeper.storage=sqlite:///study.db",
      "hydra.sweeper.study_name=all",
      "x=interval(0,1)",
    ];
    const shown = await search([...SEEDED, ...stored, "--dry-run"]);
    expect([shown.exitCode, existsSync(join(cwd, "study.db"))], shown.stderr).toEqual([0, false]);
    let left = 3;
    const first = await search([...SEEDED, ...stored], (config, job) => {
      if (left-- <= 0) throw new Error("stop");
      return square(config, job);
    });
    expect([first.exitCode, first.jobs.length]).toEqual([1, 4]);
    const second = await search(["--retry-failed", "s"]);
    expect([second.exitCode, second.jobs[0]], second.stderr).toEqual([0, first.jobs[3]]);
    const all = [...first.jobs.slice(0, 3), ...second.jobs];
    expect(new Set(all.map((job) => job.slice(2))).size).toBe(6);
    // The best of both sweeps.
    const third = await search([...SEEDED, ...stored, "hydra.sweep.dir=t"], () => 5, "t");
    expect([third.exitCode, third.jobs.length], third.stderr).toEqual([0, 6]);
    expect(third.results).toBe(second.results);
  });

  test("failed jobs end the sweep, as many as may fail are told as failed", async () => {
    const failing: Task = (config, job) => {
      if (job.number === 1) throw new Error("boom");
      return square(config, job);
    };
    const strict = await search([...SEEDED, "x=interval(0,1)"], failing);
    expect([strict.exitCode, strict.jobs.length]).toEqual([1, 2]);
    expect(strict.stdout).toContain("Failed experiment: boom");
    expect(strict.stdout).toContain("Failed 1 times out of 2 with max_failure_rate=0.0.");
    const lenient = await search(
      [...SEEDED, "x=interval(0,1)", "hydra.sweeper.max_failure_rate=0.5"],
      failing,
    );
    expect([lenient.exitCode, lenient.jobs.length], lenient.stderr).toEqual([0, 6]);
    expect(lenient.results).toContain("best_value");
  });

  test("a job that returns no number does not end the sweep, NaN does; a text of a number is one", async () => {
    const argv = [...SEEDED, "x=interval(0,1)"];
    const returning = (value: unknown) =>
      search(argv, (config, job) => (job.number === 1 ? value : square(config, job)));
    const text = await returning("no number");
    expect([text.exitCode, text.jobs.length], text.stderr).toEqual([0, 6]);
    expect(text.stdout).toContain("Return value must be float-castable. Got 'no number'.");
    const number = await returning("-7.5");
    expect(number.results).toContain("best_value: -7.5\n");
    const nan = await returning(Number.NaN);
    expect([nan.exitCode, nan.jobs.length]).toEqual([1, 2]);
    expect(nan.stderr).toContain("job #1: The value nan is not acceptable.");
    const none = await search(argv, () => "no number");
    expect([none.exitCode, none.jobs.length]).toEqual([1, 6]);
    expect(none.stderr).toContain("No trials are completed yet.");
  });

  test("the older form of the space is read, and told to be deprecated", async () => {
    const { exitCode, jobs, stderr, stdout } = await search([...SEEDED, "-cn=old"]);
    expect([exitCode, jobs.length], stderr).toEqual([0, 6]);
    expect(jobs.every((job) => /^\d x=0\.\d+ k=[ab]$/.test(job))).toBe(true);
    expect(stdout).toContain("`hydra.sweeper.search_space` is deprecated");
    const wrong = await search([...SEEDED, "-cn=old", "hydra.sweeper.search_space.x.type=other"]);
    expect(wrong.stderr).toContain("hydra.sweeper.search_space.x must have a type of categorical");
  });

  test("a range has its stop as a value before Hydra 1.4", async () => {
    const grid = ["hydra/sweeper/sampler=random", "hydra.sweeper.n_trials=30", "depth=range(1,3)"];
    const depths = async (options?: Partial<HydraMainOptions>) => {
      const { jobs } = await searches(options).search([...SEEDED, ...grid], () => 1);
      return [...new Set(jobs.map((job) => job.split("=")[1]))].sort();
    };
    expect(await depths()).toEqual(["1", "2", "3"]);
    expect(await depths({ dialect: "1.4" })).toEqual(["1", "2"]);
  });

  test("excluded combinations are asked for again", async () => {
    const argv = [...SEEDED, "hydra.sweeper.exclude=[{k: a}]", "k=a,b", "x=interval(0,1)"];
    const { exitCode, jobs, stderr } = await search(argv);
    expect([exitCode, jobs.length], stderr).toEqual([0, 6]);
    expect(jobs.every((job) => job.includes("k=b"))).toBe(true);
  });

  test.each([
    [
      ["hydra/sweeper/sampler=grid", "x=interval(0,1)"],
      "GridSampler only supports discrete distributions.",
    ],
    [
      ["hydra.sweeper.sampler._target_=optuna.samplers.Other", "x=interval(0,1)"],
      "has no attribute 'Other'",
    ],
    [["hydra.sweeper.max_failure_rate=2", "x=interval(0,1)"], "max_failure_rate must be at most 1"],
    [["+p=zip(x=choice(1,2),depth=choice(1,2))"], "is not supported by Optuna sweeper."],
    [["x=choice(1)+glob(*)"], "is not supported by Optuna sweeper."],
    [
      ["+hydra.sweeper.pruner=median", "x=interval(0,1)"],
      "hydra.sweeper.pruner must name one of Optuna's pruners, not 'median'",
    ],
    [
      ["+hydra.sweeper.pruner._target_=optuna.pruners.NopPruner", "x=interval(0,1)"],
      "hydra.sweeper.pruner_metric is missing",
    ],
    [
      [
        "+hydra.sweeper.pruner._target_=optuna.pruners.NopPruner",
        ...["+hydra.sweeper.pruner_metric=loss", "x=interval(0,1)"],
        "hydra.sweeper.direction=[minimize,maximize]",
      ],
      "the search has several directions",
    ],
    [
      ["+hydra.sweeper.pruner_min_step=1", "x=interval(0,1)"],
      "an argument of Optuna's pruner: +hydra.sweeper.pruner.n_warmup_steps=3",
    ],
  ])("%s is refused before anything runs", async (argv, problem) => {
    const { exitCode, jobs, stderr } = await search([...OPTUNA, ...argv]);
    expect([exitCode, jobs]).toEqual([1, []]);
    expect(stderr).toContain(problem);
  });
});

describe("a Python that cannot be used", () => {
  test("without Optuna, what to install and what to use instead are told in a line", async () => {
    const { cwd, search } = searches();
    const bare = join(cwd, "bare-python");
    writeFileSync(bare, '#!/bin/sh\nexec python3 -I -S "$@"\n');
    chmodSync(bare, 0o755);
    writeFileSync(join(cwd, "hydraconf.yaml"), "python: ./bare-python\n");
    const { exitCode, jobs, stderr } = await search([...SEEDED, "x=interval(0,1)"]);
    expect([exitCode, jobs]).toEqual([1, []]);
    expect(stderr).toContain(`the Python '${bare}' has no module 'optuna'`);
    expect(stderr).toContain(`${bare} -m pip install optuna`);
    expect(stderr).toContain("hydra/sweeper=tpe");
    expect(existsSync(join(cwd, "s"))).toBe(false);
  });

  test("an interpreter of a project that is not trusted does not run", async () => {
    const { search } = searches({ trustCommand: "prog trust" } as Partial<HydraMainOptions>);
    const { exitCode, jobs, stderr } = await search([...SEEDED, "x=interval(0,1)"]);
    expect([exitCode, jobs]).toEqual([1, []]);
    expect(stderr).toContain("is not trusted yet, and runs code: python:");
  });
});
