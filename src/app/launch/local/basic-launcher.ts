/** The launcher that runs jobs one after the other in this process. */
import { ConfigError } from "../../../engine/values/errors.ts";
import type { SweepJob } from "../../job/plan-job.ts";
import { loggedOverrides } from "../job-overrides.ts";
import type { LaunchEvent, Launcher, LauncherDefinition, LauncherRequest } from "../launcher.ts";

/** Hydra's name, which log configs may use. */
const LOGGER = "hydra._internal.core_plugins.basic_launcher";

/** Hydra's own launcher: one job after the other, on the console of this process. */
export const basicLauncher: LauncherDefinition = {
  name: "basic",
  targets: ["hydra._internal.core_plugins.basic_launcher.BasicLauncher"],
  settings: ["warm"],
  insteadOf: () => ({ hint: "use hydra/launcher=local to run jobs in parallel" }),
  inThisProcess: true,
  prunes: true,
  open(request) {
    let beside: Launcher | undefined;
    return {
      async *launch(batch) {
        if (!areProgramsApart(request)) {
          yield* inThisProcess(batch, request);
          return;
        }
        const { oneAtATime } = await import("./local-launcher.ts");
        beside ??= oneAtATime(request, { logBatch, logJob });
        yield* beside.launch?.(batch) ?? [];
      },
      close: () => beside?.close?.(),
    };
  },
};

/**
 * Whether the jobs are programs of their own: then they run in a worker, as with any other launcher, which goes on with
 * its job and records it if this process is killed. A task in the user's code runs in this process, as in Hydra, and
 * ends with it. So do programs whose sweep holds secrets, which no worker is told and which cannot be resumed.
 */
function areProgramsApart({ internals: { record, reusesWorkers } }: LauncherRequest): boolean {
  const { holds_secrets, program } = record.facts();
  return reusesWorkers && program.command !== null && !holds_secrets;
}

async function* inThisProcess(
  batch: readonly SweepJob[],
  request: LauncherRequest,
): AsyncGenerator<LaunchEvent> {
  const { endOfEarlier, internals, mayStart, runHere } = request;
  if (internals.pruning !== undefined)
    throw new ConfigError({
      code: "app.unsupported",
      message: "A job in this process cannot be ended early",
      key: "hydra.sweeper.pruner",
      hint: "use hydra/launcher=local, whose jobs are processes of their own",
    });
  logBatch(batch, request);
  for (const job of batch) {
    if (!mayStart()) return;
    logJob(job, request);
    yield { kind: "started", job };
    const result = (await endOfEarlier(job)) ?? (await runHere(job));
    yield { kind: "ended", job, result };
  }
}

const logBatch = (batch: readonly SweepJob[], { internals, logger }: LauncherRequest): void =>
  logger(LOGGER).info(
    `Launching ${internals.failsFast ? "up to " : ""}${batch.length} jobs locally`,
  );

const logJob = (job: SweepJob, { logger }: LauncherRequest): void =>
  logger(LOGGER).info(`\t#${job.number} : ${loggedOverrides(job)}`);
