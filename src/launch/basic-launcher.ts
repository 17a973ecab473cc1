import type { JobResult } from "../job/job.ts";
import type { SweepJob } from "../job/plan-job.ts";
import { orphanOf } from "../record/orphans.ts";
import type { SweepRecord } from "../record/sweep-record.ts";
import type { LauncherKind } from "./launcher.ts";

/** Hydra's name, which log configs may use. */
const LOGGER = "hydra._internal.core_plugins.basic_launcher";

/** Hydra's own launcher: one job after the other, in this process. */
export const basicLauncher: LauncherKind = {
  targets: ["hydra._internal.core_plugins.basic_launcher.BasicLauncher"],
  settings: [],
  insteadOf: () => ({ hint: "use hydra/launcher=local to run jobs in parallel" }),
  inThisProcess: true,
  open: ({ gate, logAsHydra, logging, record, runHere }) => {
    const log = logging.logger(LOGGER);
    return {
      async *launch(batch) {
        logAsHydra();
        log.info(`Launching ${batch.length} jobs locally`);
        for (const job of batch) {
          if (!gate.mayStart()) return;
          log.info(`\t#${job.number} : ${loggedOverrides(job)}`);
          yield { kind: "started", job };
          const result = (await whatWasLeft(record, job)) ?? (await runHere(job));
          logAsHydra();
          yield { kind: "ended", job, result };
        }
      },
    };
  },
};

/** A job that a process of an earlier launcher still runs is waited for, and not run twice. */
async function whatWasLeft(record: SweepRecord, job: SweepJob): Promise<JobResult | undefined> {
  await orphanOf(record.folder, job.number)?.ended;
  return record.endedSince(job);
}

/** A job in a line: what makes it different, not how Hydra itself is configured. */
export const shownOverrides = ({ overrides }: Pick<SweepJob, "overrides">): string =>
  inLine(overrides);

/** The line that Hydra's launchers log. */
export const loggedOverrides = ({ swept }: Pick<SweepJob, "swept">): string => inLine(swept);

const inLine = (overrides: readonly string[]): string =>
  overrides.filter((override) => !override.startsWith("hydra.")).join(" ");
