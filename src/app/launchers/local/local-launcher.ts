import { ConfigError } from "../../../values/errors.ts";
import type { JobState } from "../../sweep/record/job-state.ts";
import type { SweepRecord } from "../../sweep/record/sweep-record.ts";
import { workerCommand } from "../../worker/worker-command.ts";
import { shownOverrides } from "../basic-launcher.ts";
import type { LaunchEvent, LauncherKind, LauncherRequest, SweepJob } from "../launcher.ts";
import { LOCAL_TARGETS, type LocalSettings, localSettings } from "./settings.ts";
import { openSlots, type SlotPool, type Slots, slotVariables } from "./slots.ts";
import { leftBehind, startWorker, type WorkerProcess } from "./worker-process.ts";

const LOGGER = "hydraconf.launchers.local";

/** What asks a launcher to stop: it passes that on. */
const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Jobs as processes of this machine, several at a time. */
export const localLauncher: LauncherKind = {
  targets: LOCAL_TARGETS,
  open(request) {
    const settings = localSettings(request.root, request.context);
    const slots = openSlots(settings.resources);
    return { launch: (batch) => launch(batch, request, settings, slots) };
  },
};

interface Running {
  readonly job: SweepJob;
  readonly slots: Slots;
  readonly worker: WorkerProcess;
}

async function* launch(
  batch: readonly SweepJob[],
  { gate, invocation, logAsHydra, logging, record }: LauncherRequest,
  settings: LocalSettings,
  pool: SlotPool,
): AsyncGenerator<LaunchEvent> {
  const manifest = record.manifest();
  refuseUnstartable(record);
  logAsHydra();
  const log = logging.logger(LOGGER);
  const atOnce = Math.min(settings.jobs, Math.max(1, batch.length));
  log.info(`Launching ${batch.length} jobs in ${atOnce} processes`);
  const waiting = [...batch];
  const running = new Map<SweepJob, Running>();
  const tries = new Map<SweepJob, number>();
  let interrupted = false;
  const onSignal = (signal: NodeJS.Signals) => {
    interrupted = true;
    for (const { worker } of running.values()) worker.signal(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    for (;;) {
      while (running.size < settings.jobs && !interrupted && gate.mayStart()) {
        const slots = waiting.length === 0 ? undefined : pool.take();
        const job = slots === undefined ? undefined : waiting.shift();
        if (slots === undefined || job === undefined) break;
        const command = workerCommand(manifest, record.folder, job.number);
        if (command === null) break;
        log.info(`\t#${job.number} : ${shownOverrides(job)}`);
        const worker =
          (tries.has(job) ? undefined : leftBehind(record.folder, job.number)) ??
          startWorker({
            command,
            folder: record.folder,
            number: job.number,
            env: { ...invocation.env, ...slotVariables(slots) },
            timeLimit: settings.timeLimit,
          });
        tries.set(job, (tries.get(job) ?? 0) + 1);
        running.set(job, { job, slots, worker });
        yield { kind: "started", job };
      }
      if (running.size === 0) return;
      const { one, state } = await firstOf(running);
      running.delete(one.job);
      pool.giveBack(one.slots);
      const reason = failureOf(state);
      if (reason !== undefined && !interrupted && (tries.get(one.job) ?? 0) <= settings.retries) {
        waiting.unshift(one.job);
        yield { kind: "retried", job: one.job, reason };
        continue;
      }
      const result = record.resultOf(one.job);
      if (result !== undefined) yield { kind: "ended", job: one.job, result };
    }
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

const firstOf = (
  running: ReadonlyMap<SweepJob, Running>,
): Promise<{ readonly one: Running; readonly state: JobState }> =>
  Promise.race([...running.values()].map(async (one) => ({ one, state: await one.worker.ended })));

const failureOf = ({ attempts, status }: JobState): string | undefined =>
  status === "failed" || status === "timed_out" ? (attempts.at(-1)?.error ?? status) : undefined;

/** @throws ConfigError `app.unsupported` for sweeps whose jobs no other process can run */
export function refuseUnstartable(record: SweepRecord): void {
  const { holds_secrets: holdsSecrets, program } = record.manifest();
  if (holdsSecrets)
    throw new ConfigError({
      code: "app.unsupported",
      message: "A secret on the command line cannot be handed to jobs in other processes",
      key: "hydra.launcher",
      hint: "put it into an environment variable and write KEY='${oc.env:NAME}'",
    });
  if (program.command === null)
    throw new ConfigError({
      code: "app.unsupported",
      message: `'${program.name}' was not started from a file, so that no other process can run its jobs`,
      key: "hydra.launcher",
      hint: "use hydra/launcher=basic",
    });
}
