/** The program whose sweeps are simulated, and its scheduler as it sees it. */
import type { HydraMainOptions } from "../../../../src/app/cli/check-main.ts";
import type { Task } from "../../../../src/app/job/job.ts";
import type { LauncherDefinition, ScheduledJob } from "../../../../src/app/launch/launcher.ts";
import { STANDARD_PLUGINS } from "../../../../src/app/plugins/standard-plugins.ts";
import type { Question, QueuedTask } from "./shared.ts";

/** The sweep's directory; part of the path of each file of it. */
export const SWEEP_PATH = "/simulated-sweep";

/** What the scheduler sets in the environment of its tasks. */
export const TASK_VARIABLE = "SIM_TASK";

export const CONFIG = `defaults:
  - override hydra/job_logging: none
  - override hydra/hydra_logging: none
  - _self_
x: 1
budget: 0
steps: 0
hydra:
  output_subdir: null
  sweep:
    dir: .${SWEEP_PATH}
    subdir: \${hydra:job.num}
`;

const SCHEDULER_TARGET = "sim.Launcher";

const LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=3"];

/** Set in the environment of a sweep whose jobs are programs. */
export const PROGRAMS_VARIABLE = "SIM_PROGRAMS";

/** How the launchers of a run are chosen on the command line. */
export const LAUNCHERS = {
  basic: [],
  /** As with programs of `hydraconf run`: jobs in a process beside the launcher, on its console. */
  apart: [],
  local: [...LOCAL, "hydra.launcher.reuse_workers=false"],
  reused: [...LOCAL, "hydra.launcher.reuse_workers=true"],
  scheduler: [`hydra.launcher._target_=${SCHEDULER_TARGET}`],
} as const;
export type LauncherName = keyof typeof LAUNCHERS;

/** A sweep: its overrides, and how many jobs it has in the end. */
interface Kind {
  readonly overrides: readonly string[];
  readonly jobs: number;
  /** Whether it is a search, which asks for jobs by the results of others. */
  readonly isSearch?: true;
}

const SEARCH = ["hydra.sweeper.seed=1", "hydra.sweeper.objective=square", "x=int(interval(0,99))"];

const PRUNER = ["pruner=median", "pruner_metric=loss", "pruner_startup_jobs=2"];

export const KINDS = {
  grid: { overrides: ["x=range(0,12)"], jobs: 12 },
  pruned: {
    overrides: [
      ...["hydra/sweeper=random", "hydra.sweeper.n_trials=12", ...SEARCH],
      ...["steps=3", ...PRUNER.map((one) => `hydra.sweeper.${one}`)],
    ],
    ...{ jobs: 12, isSearch: true },
  },
  tpe: {
    overrides: [
      ...["hydra/sweeper=tpe", "hydra.sweeper.n_trials=12", "hydra.sweeper.n_jobs=3"],
      ...["hydra.sweeper.n_startup_trials=4", ...SEARCH],
    ],
    ...{ jobs: 12, isSearch: true },
  },
  halving: {
    overrides: [
      ...["hydra/sweeper=successive_halving", "hydra.sweeper.budget_key=budget", ...SEARCH],
      ...["min_budget=1", "max_budget=4", "eta=2", "n_trials=7"].map(
        (one) => `hydra.sweeper.${one}`,
      ),
    ],
    ...{ jobs: 11, isSearch: true },
  },
} as const satisfies Readonly<Record<string, Kind>>;
export type KindName = keyof typeof KINDS;

interface Surroundings {
  readonly ask: (question: Question) => unknown;
  readonly env: Readonly<Record<string, string>>;
}

const schedulerLauncher = ({ ask }: Surroundings): LauncherDefinition => ({
  name: "sim",
  targets: [SCHEDULER_TARGET],
  prunes: true,
  settings: [],
  open: ({ workerCommand }) => ({
    async submit(batch) {
      const jobs = batch.map((job) => ({ number: job.number, env: workerCommand(job).env }));
      ask({ ask: "submit", jobs });
    },
  }),
  backend: async () =>
    ask({ ask: "queue" }) === null
      ? undefined
      : {
          status: async () =>
            (ask({ ask: "queue" }) as readonly QueuedTask[]).map(
              (task): ScheduledJob => ({ ...task, state: task.phase, pendingReason: null }),
            ),
          cancel: async ({ numbers, onlyWaiting = false } = {}) =>
            void ask({
              ask: "cancel",
              numbers: numbers === undefined ? null : [...numbers],
              onlyWaiting,
            }),
        },
  scheduledTask: (env) => {
    const id = env[TASK_VARIABLE];
    return id === undefined ? undefined : { id };
  },
});

export const optionsWith = (base: string, surroundings: Surroundings): HydraMainOptions => ({
  name: "prog",
  base,
  configPath: "conf",
  configName: "config",
  reusesWorkers: surroundings.env[PROGRAMS_VARIABLE] !== undefined,
  plugins: [...STANDARD_PLUGINS, { name: "sim", launchers: [schedulerLauncher(surroundings)] }],
});

interface TaskTools {
  readonly report: (what: "begin" | "end" | "fail", number: number) => void;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  readonly random: (limit: number) => number;
}

/** A job fails now and then, as its seed says. With steps it reports its loss at each, and may be ended early. */
export const sweepTask =
  ({ random, report, sleep }: TaskTools): Task =>
  async (config, job) => {
    const { number = -1 } = job;
    const x = Number(config.get("x"));
    report("begin", number);
    for (let step = 1; step <= Number(config.get("steps")); step++) {
      job.report(step, { loss: x ** 2 });
      await sleep(20 + random(400));
    }
    await sleep(20 + random(400));
    if (random(12) === 0) {
      report("fail", number);
      // Without a stack, which only a defect prints.
      throw Object.assign(new Error(`boom ${x}`), { stack: `Error: boom ${x}` });
    }
    report("end", number);
    return { x, square: x ** 2 };
  };
