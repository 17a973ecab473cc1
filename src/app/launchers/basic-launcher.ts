import type { LauncherKind, SweepJob } from "./launcher.ts";

/** Hydra's name, which log configs may use. */
const LOGGER = "hydra._internal.core_plugins.basic_launcher";

/** Hydra's own launcher: one job after the other, in this process. */
export const basicLauncher: LauncherKind = {
  targets: ["hydra._internal.core_plugins.basic_launcher.BasicLauncher"],
  inThisProcess: true,
  open: ({ gate, logAsHydra, logging, runHere }) => {
    const log = logging.logger(LOGGER);
    return {
      async *launch(batch) {
        logAsHydra();
        log.info(`Launching ${batch.length} jobs locally`);
        for (const job of batch) {
          if (!gate.mayStart()) return;
          log.info(`\t#${job.number} : ${shownOverrides(job)}`);
          yield { kind: "started", job };
          const result = await runHere(job);
          logAsHydra();
          yield { kind: "ended", job, result };
        }
      },
    };
  },
};

/** A job in a line: what makes it different, not how Hydra itself is configured. */
export const shownOverrides = ({ overrides }: SweepJob): string =>
  overrides.filter((override) => !override.startsWith("hydra.")).join(" ");
