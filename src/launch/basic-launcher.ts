import type { SweepJob } from "../job/plan-job.ts";
import type { LauncherDefinition } from "./launcher.ts";

/** Hydra's name, which log configs may use. */
const LOGGER = "hydra._internal.core_plugins.basic_launcher";

/** Hydra's own launcher: one job after the other, in this process. */
export const basicLauncher: LauncherDefinition = {
  name: "basic",
  targets: ["hydra._internal.core_plugins.basic_launcher.BasicLauncher"],
  settings: [],
  insteadOf: () => ({ hint: "use hydra/launcher=local to run jobs in parallel" }),
  inThisProcess: true,
  open: ({ endOfEarlier, logger, mayStart, runHere }) => ({
    async *launch(batch) {
      const log = logger(LOGGER);
      log.info(`Launching ${batch.length} jobs locally`);
      for (const job of batch) {
        if (!mayStart()) return;
        log.info(`\t#${job.number} : ${loggedOverrides(job)}`);
        yield { kind: "started", job };
        const result = (await endOfEarlier(job)) ?? (await runHere(job));
        yield { kind: "ended", job, result };
      }
    },
  }),
};

/** A job's overrides in one line, without those that configure Hydra itself. */
export const shownOverrides = ({ overrides }: Pick<SweepJob, "overrides">): string =>
  inLine(overrides);

/** The line that Hydra's launchers log. */
export const loggedOverrides = ({ swept }: Pick<SweepJob, "swept">): string => inLine(swept);

const inLine = (overrides: readonly string[]): string =>
  overrides.filter((override) => !override.startsWith("hydra.")).join(" ");
