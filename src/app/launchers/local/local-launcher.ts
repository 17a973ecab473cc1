import { constants } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../../values/errors.ts";
import { failedJob, type JobResult, wasStopped } from "../../job/job.ts";
import type { JobState } from "../../sweep/record/job-state.ts";
import type { SweepRecord } from "../../sweep/record/sweep-record.ts";
import { type LiveWorker, leftBehind, liveWorkers } from "../../worker/left-behind.ts";
import { workerCommand } from "../../worker/worker-command.ts";
import { shownOverrides } from "../basic-launcher.ts";
import type { LaunchEvent, LauncherKind, LauncherRequest, SweepJob } from "../launcher.ts";
import { createEndings } from "./endings.ts";
import { LOCAL_TARGETS, type LocalSettings, localSettings } from "./settings.ts";
import {
  type HeldSlots,
  openSlots,
  type SlotAttempt,
  type SlotPool,
  slotsOfMachine,
  slotVariables,
} from "./slots.ts";
import { startWorker } from "./worker-process.ts";

const LOGGER = "hydraconf.launchers.local";

/** What asks a launcher to stop: it passes that on. */
const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Jobs as processes of this machine, several at a time. */
export const localLauncher: LauncherKind = {
  targets: LOCAL_TARGETS,
  open(request) {
    const settings = localSettings(request.root, request.context);
    return { launch: (batch) => launch(batch, request, settings) };
  },
};

interface Running {
  readonly job: SweepJob;
  /** Undefined for a worker that another launcher left: it holds its own. */
  readonly slots: HeldSlots | undefined;
  readonly worker: LiveWorker;
}

interface Ended {
  readonly one: Running;
  readonly state: JobState;
}

async function* launch(
  batch: readonly SweepJob[],
  { gate, invocation, logAsHydra, logging, record }: LauncherRequest,
  settings: LocalSettings,
): AsyncGenerator<LaunchEvent> {
  const manifest = record.manifest();
  refuseUnstartable(record);
  logAsHydra();
  const log = logging.logger(LOGGER);
  const atOnce = Math.min(settings.jobs, Math.max(1, batch.length));
  log.info(`Launching ${batch.length} jobs in ${atOnce} processes`);
  const pool = poolOf(settings, record.folder);
  const left = new Set(liveWorkers(record.folder, batch).map(({ number }) => number));
  // Those that run already come first: they have their slots.
  const waiting = batch.toSorted((a, b) => Number(left.has(b.number)) - Number(left.has(a.number)));
  const running = new Map<SweepJob, Running>();
  const tries = new Map<SweepJob, number>();
  const endings = createEndings<Ended>();
  let interrupted: NodeJS.Signals | undefined;
  let isAnyStopped = false;
  let isToldOfSlots = false;
  const onSignal = (signal: NodeJS.Signals) => {
    interrupted ??= signal;
    for (const { worker } of running.values()) worker.signal(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    for (;;) {
      let lacksSlots = false;
      while (running.size < settings.jobs && interrupted === undefined && gate.mayStart()) {
        const [job] = waiting;
        if (job === undefined) break;
        const command = workerCommand(manifest, record.folder, job.number);
        if (command === null) break;
        const since = tries.has(job) ? undefined : record.endedSince(job);
        if (since !== undefined) {
          waiting.shift();
          yield { kind: "started", job };
          yield { kind: "ended", job, result: since };
          continue;
        }
        let slots: HeldSlots | undefined;
        let worker: LiveWorker | undefined = tries.has(job)
          ? undefined
          : leftBehind(record.folder, job.number);
        if (worker === undefined) {
          const attempt = pool.take(`job #${job.number} of the sweep in ${manifest.directory}`);
          if (attempt.kind === "none") {
            lacksSlots = true;
            if (!isToldOfSlots && running.size === 0) log.info(waitsFor(attempt));
            isToldOfSlots ||= running.size === 0;
            break;
          }
          slots = attempt.held;
          const started = startWorker({
            command,
            folder: record.folder,
            number: job.number,
            env: { ...invocation.env, ...slotVariables(slots.slots) },
            timeLimit: settings.timeLimit,
          });
          if (started.pid !== undefined) slots.handTo(started.pid);
          worker = started;
        }
        waiting.shift();
        log.info(`\t#${job.number} : ${shownOverrides(job)}`);
        tries.set(job, (tries.get(job) ?? 0) + 1);
        const one = { job, slots, worker };
        running.set(job, one);
        endings.add(worker.ended.then((state) => ({ one, state })));
        yield { kind: "started", job };
      }
      if (running.size === 0 && !lacksSlots) break;
      const ended = await endings.next(lacksSlots ? SLOTS_MS : undefined);
      if (ended === undefined) continue;
      const { one, state } = ended;
      running.delete(one.job);
      one.slots?.giveBack();
      const reason = failureOf(state);
      if (
        reason !== undefined &&
        interrupted === undefined &&
        (tries.get(one.job) ?? 0) <= settings.retries
      ) {
        waiting.unshift(one.job);
        yield { kind: "retried", job: one.job, reason };
        continue;
      }
      const result = record.resultOf(one.job);
      if (result === undefined) continue;
      isAnyStopped ||= wasStopped(result);
      yield { kind: "ended", job: one.job, result };
    }
    // A signal that no job was ended by has ended the sweep all the same.
    const [next] = waiting;
    if (interrupted !== undefined && next !== undefined && !isAnyStopped)
      yield { kind: "ended", job: next, result: notStarted(next, interrupted) };
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

const notStarted = (job: SweepJob, signal: NodeJS.Signals): JobResult => ({
  ...failedJob(job, new ConfigError({ code: "app.job", message: `not started: ${signal}` })),
  exitCode: 128 + constants.signals[signal],
});

/** Between looks at slots that other sweeps have. */
const SLOTS_MS = 300;

const poolOf = ({ resources, slotScope }: LocalSettings, folder: string): SlotPool =>
  openSlots(
    resources,
    slotScope === "sweep" || resources.size === 0 ? join(folder, "slots") : slotsOfMachine(),
  );

const waitsFor = ({ holder, resource, slot }: SlotAttempt & { kind: "none" }): string =>
  `Waiting for a slot of ${resource}: process ${holder.pid} has ${slot}${holder.use === undefined ? "" : ` (${holder.use})`}`;

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
