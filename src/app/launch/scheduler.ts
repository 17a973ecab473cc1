/** Jobs of a sweep that a scheduler runs: default behaviour for the parts that a launcher leaves out. */
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { plural } from "../../foundation/text/plural.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { failedJob, type JobResult } from "../job/job.ts";
import type { SweepJob } from "../job/plan-job.ts";
import { listenForInterrupt } from "../job/process/interrupt.ts";
import { startedState, undamagedState } from "../record/damage.ts";
import {
  ended,
  hasEnded,
  isScheduled,
  type JobState,
  readJobState,
  tookMs,
  writeJobState,
} from "../record/job-state.ts";
import { currentJobs, readManifest } from "../record/manifest.ts";
import { nextCommands, typedCommand } from "../record/next-commands.ts";
import { notePruned, signalledBy } from "../record/recorded-job.ts";
import type {
  LaunchEvent,
  Launcher,
  LauncherRequest,
  ScheduledEvent,
  ScheduledJob,
  SchedulerBackend,
  WatchOptions,
} from "./launcher.ts";

/** A scheduler's side of a sweep with all optional parts filled in. */
export type SweepBackend = Required<SchedulerBackend>;

/** The polling interval for the jobs' own records. */
const RECORDS_MS = 500;
/** The interval between queries to the scheduler, which many users share: short while things happen, then longer. */
const QUESTIONS_MS = { first: 2_000, most: 15_000, growth: 1.5 };
/** How much later than the scheduler's answer a record may appear: file systems of clusters show new files late. */
const RECORD_DELAY_MS = 2_000;

/** @param folder the absolute path of the `.sweep` folder */
export function completeBackend(backend: SchedulerBackend, folder: string): SweepBackend {
  const numbers = () => currentJobs(readManifest(folder)).map(({ number }) => number);
  return {
    status: (options) => backend.status(options),
    cancel: (options) => backend.cancel(options),
    handedOver: () =>
      backend.handedOver?.() ??
      new Set(numbers().filter((number) => !hasEnded(undamagedState(folder, number)))),
    async reconcile(options = {}) {
      if (backend.reconcile !== undefined) return backend.reconcile(options);
      const live = liveNumbers(await backend.status(options));
      const lost = () => numbers().filter((number) => !live.has(number) && isOpen(folder, number));
      if (lost().length > 0) await sleep(RECORD_DELAY_MS);
      for (const number of lost()) recordLost(folder, number);
      return undefined;
    },
    watch: (options = {}) =>
      backend.watch?.(options) ?? watchJobs(backend, folder, numbers, options),
  };
}

const liveNumbers = (jobs: readonly ScheduledJob[]): ReadonlySet<number> =>
  new Set(jobs.filter(({ phase }) => phase !== "over").map(({ number }) => number));

/** Whether a job's record says that a scheduler's process runs it. */
function isOpen(folder: string, number: number): boolean {
  const state = undamagedState(folder, number);
  const last = state?.attempts.at(-1);
  return state?.status === "running" && last !== undefined && isScheduled(last);
}

/** Records a job that its scheduler ended before the job could record its end. */
function recordLost(folder: string, number: number): void {
  const state = readJobState(folder, number);
  if (state === undefined) return;
  const endedBy = signalledBy(folder, number, { by: "scheduler", cause: "unknown" });
  writeJobState(folder, ended(state, { endedBy, exitCode: null }), { durable: true });
}

const attemptsOf = (state: JobState | undefined): number => state?.attempts.length ?? 0;

/** A job that is being watched. */
interface Watched {
  readonly number: number;
  /** Attempts before the watch began. */
  readonly attempts: number;
  isStarted: boolean;
  pendingReason: string | null;
  /** When the scheduler stopped listing it, on a monotonic clock. */
  goneSince?: number;
}

/** @throws errors that are no answer of a scheduler, but defects */
function unanswered(error: unknown): undefined {
  if (!isConfigError(error)) throw error;
}

/**
 * Polls the jobs' own records, and asks the scheduler about jobs that can no longer write theirs. Ends when all have
 * ended.
 */
async function* watchJobs(
  backend: SchedulerBackend,
  folder: string,
  numbers: () => readonly number[],
  { attemptsBefore, numbers: chosen, signal }: WatchOptions,
): AsyncGenerator<ScheduledEvent> {
  let live = liveNumbers(await backend.status({ ...(signal && { signal }) }));
  const watched = new Map<number, Watched>();
  for (const number of numbers()) {
    const state = startedState(folder, number);
    // The record of a requeued job still has the end of an earlier attempt.
    const isWatched = chosen?.has(number) ?? (live.has(number) || isOpen(folder, number));
    const made = attemptsOf(state) - (state?.status === "running" ? 1 : 0);
    const attempts = attemptsBefore?.get(number) ?? made;
    if (isWatched) watched.set(number, { number, attempts, isStarted: false, pendingReason: null });
  }
  let pause: number = QUESTIONS_MS.first;
  let next = 0;
  while (watched.size > 0 && signal?.aborted !== true) {
    if (performance.now() >= next) {
      // A scheduler that does not answer once is asked again.
      const jobs = await backend.status({ ...(signal && { signal }) }).catch(unanswered);
      if (jobs !== undefined) {
        live = liveNumbers(jobs);
        yield* newlyHeld(watched, jobs);
      }
      next = performance.now() + pause;
      pause = Math.min(pause * QUESTIONS_MS.growth, QUESTIONS_MS.most);
    }
    for (const job of watched.values())
      for (const event of eventsOf(job, folder, live.has(job.number))) {
        if (event.kind === "ended" || event.kind === "dropped") watched.delete(job.number);
        [pause, next] = [
          QUESTIONS_MS.first,
          Math.min(next, performance.now() + QUESTIONS_MS.first),
        ];
        yield event;
      }
    if (watched.size > 0)
      await sleep(RECORDS_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}

function* eventsOf(job: Watched, folder: string, isLive: boolean): Generator<ScheduledEvent> {
  const { attempts, number } = job;
  const state = startedState(folder, number);
  const isNew = state !== undefined && state.attempts.length > attempts;
  const isOver = state?.status === "stopped" || hasEnded(state);
  if (isNew && !job.isStarted) {
    job.isStarted = true;
    yield { kind: "started", number };
  }
  if (isNew && isOver) {
    yield { kind: "ended", number };
    return;
  }
  if (isLive) {
    delete job.goneSince;
    return;
  }
  job.goneSince ??= performance.now();
  if (performance.now() - job.goneSince < RECORD_DELAY_MS) return;
  if (isNew) {
    recordLost(folder, number);
    yield { kind: "ended", number };
  } else yield { kind: "dropped", number, reason: "the scheduler does not have it any more" };
}

/** Jobs that have begun to wait for an action of the user, by that action, and jobs that no longer do. */
function* newlyHeld(
  watched: ReadonlyMap<number, Watched>,
  jobs: readonly ScheduledJob[],
): Generator<ScheduledEvent> {
  const pending = new Map<string | null, number[]>();
  for (const { number, pendingReason } of jobs) {
    const job = watched.get(number);
    if (job === undefined || job.pendingReason === pendingReason) continue;
    job.pendingReason = pendingReason;
    pending.set(pendingReason, [...(pending.get(pendingReason) ?? []), number]);
  }
  for (const [pendingReason, numbers] of pending) yield { kind: "held", numbers, pendingReason };
}

/** The backend of a sweep whose launcher is not installed: the jobs of its scheduler are unknown. */
export function unknownLauncher(notes: string, folder: string): SweepBackend {
  const fail = (): never => {
    throw new ConfigError({
      code: "app.launcher",
      message: `The sweep was launched by '${basename(notes)}', a launcher that no plugin here provides`,
      key: "hydra/launcher",
      hint: "name its plugin under `plugins` in a settings file (docs/plugins.md)",
    });
  };
  const backend: SchedulerBackend = {
    status: async () => fail(),
    cancel: async () => fail(),
    reconcile: async () => fail(),
    watch: () => fail(),
  };
  return completeBackend(backend, folder);
}

/** How a launcher reports the jobs that it follows. */
export interface FollowOptions {
  /**
   * The name of the scheduler in messages about jobs that are no longer followed: `Slurm`. Default: `the scheduler`.
   */
  readonly scheduler?: string;
  /** The result of a job. Default: from its record. */
  readonly resultOf?: (job: SweepJob) => JobResult;
  /** As in `WatchOptions`. */
  readonly attemptsBefore?: ReadonlyMap<number, number>;
}

/** A launcher with all optional parts filled in: one that only submits jobs also follows them. */
export function completeLauncher(
  launcher: Launcher,
  request: LauncherRequest,
  backend: () => Promise<SweepBackend | undefined>,
): Launcher & Pick<Required<Launcher>, "launch"> {
  const { launch, submit } = launcher;
  const close = () => launcher.close?.();
  if (launch !== undefined) return { ...(submit && { submit }), launch, close };
  const { folder } = request.internals.record;
  const stillThere = async (): Promise<ReadonlySet<number>> =>
    request.isResumed ? liveNumbers((await (await backend())?.status()) ?? []) : new Set();
  const submitDue = async (batch: readonly SweepJob[], signal: AbortSignal): Promise<void> => {
    const live = await stillThere();
    const due = batch.filter(({ number }) => !live.has(number));
    if (due.length === 0) return;
    request.internals.record.refuseIfLost();
    await submit?.(due, signal);
  };
  return {
    close,
    submit: submitDue,
    async *launch(batch) {
      const attemptsBefore = new Map<number, number>();
      for (const { number } of batch) {
        const state = readJobState(folder, number);
        attemptsBefore.set(number, attemptsOf(state) - (state?.status === "running" ? 1 : 0));
      }
      await submitDue(batch, new AbortController().signal);
      const jobs = await backend();
      if (jobs !== undefined) yield* followJobs(batch, jobs, request, { attemptsBefore });
    },
  };
}

/**
 * Cancels running jobs that are not worth going on, until the signal: the scheduler asks their processes to end, and those record who
 * has ended them. A scheduler that does not answer is asked again.
 */
async function pruneJobs(
  running: ReadonlyMap<number, SweepJob>,
  backend: SweepBackend,
  { pruning, record }: LauncherRequest["internals"],
  signal: AbortSignal,
): Promise<void> {
  const asked = new Set<number>();
  while (pruning !== undefined && !signal.aborted) {
    for (const { number, step } of pruning.look([...running.values()])) {
      notePruned(record.folder, number, step);
      asked.add(number);
    }
    const numbers = new Set([...asked].filter((number) => running.has(number)));
    const isAsked = numbers.size > 0 && backend.cancel({ numbers }).then(() => true, unanswered);
    if ((await isAsked) === true) asked.clear();
    await sleep(RECORDS_MS, undefined, { signal }).catch(() => {});
  }
}

/**
 * Follows a scheduler's jobs to their ends. Ctrl-C stops following, never the jobs. Once no other job may start,
 * waiting jobs are cancelled, and so are, while they run, those that the pruner of a search ends.
 */
export async function* followJobs(
  batch: readonly SweepJob[],
  backend: SweepBackend,
  { directory, mayStart, resultOf, say, internals }: LauncherRequest,
  options: FollowOptions = {},
): AsyncGenerator<LaunchEvent, void> {
  const { attemptsBefore, scheduler = "the scheduler" } = options;
  const { folder } = internals.record;
  const result = (job: SweepJob): JobResult =>
    options.resultOf?.(job) ?? resultOf(job) ?? failedJob(job, failure("its record is missing"));
  const jobs = new Map(batch.map((job) => [job.number, job]));
  const typed = typedCommand(internals.invocation);
  const interrupt = listenForInterrupt();
  const open = new Map(jobs);
  const running = new Map<number, SweepJob>();
  const followed = new AbortController();
  const failed = new AbortController();
  const pruned = pruneJobs(running, backend, internals, followed.signal).catch((error: unknown) =>
    failed.abort(error),
  );
  let withdrawn = false;
  try {
    const watch = {
      numbers: new Set(jobs.keys()),
      signal: AbortSignal.any([interrupt.signal, failed.signal]),
      ...(attemptsBefore && { attemptsBefore }),
    };
    for await (const event of backend.watch(watch)) {
      if (event.kind === "held") {
        const held = event.numbers.flatMap((number) => jobs.get(number) ?? []);
        yield { kind: "held", jobs: held, pendingReason: event.pendingReason };
        continue;
      }
      const job = jobs.get(event.number);
      if (job === undefined) continue;
      if (event.kind === "started") {
        running.set(event.number, job);
        yield { kind: "started", job };
      } else if (event.kind === "retried") yield { ...retriedOf(event), job };
      else {
        open.delete(event.number);
        running.delete(event.number);
        if (event.kind === "ended")
          yield { kind: "ended", job, result: result(job), ...tookOf(folder, job) };
        else if (!withdrawn) yield { kind: "ended", job, result: lost(job, event.reason) };
      }
      if (!withdrawn && !mayStart()) {
        withdrawn = true;
        await backend.cancel({ onlyWaiting: true });
      }
    }
  } finally {
    followed.abort();
    await pruned;
    interrupt.release();
  }
  failed.signal.throwIfAborted();
  const signal = interrupt.name();
  if (signal === undefined || open.size === 0) return;
  say(
    `Stopped following ${plural(open.size, "job; it goes", "jobs; they go")} on in ${scheduler}.\n` +
      `  ${typed?.program ?? ""} --resume ${shellQuote(directory)}   follows them again\n${nextCommands(directory, ["wait", "cancel"], typed?.hydraconf).trimEnd()}`,
  );
  yield { kind: "stopped", signal, goesOn: true };
}

const retriedOf = ({ number: _number, ...event }: Extract<ScheduledEvent, { kind: "retried" }>) =>
  event;

/** The result of a job that its scheduler dropped before it began. */
const lost = (job: SweepJob, reason: string): JobResult => ({
  ...failedJob(job, failure(reason)),
  endedBy: { by: "scheduler", cause: "unknown" },
});

const failure = (message: string): ConfigError => new ConfigError({ code: "app.job", message });

/** How long a job took in milliseconds, according to its record; empty if that does not say. */
export function tookOf(folder: string, { number }: SweepJob): { readonly took?: number } {
  const last = undamagedState(folder, number)?.attempts.at(-1);
  return last !== undefined && last.ended !== null ? { took: tookMs(last) } : {};
}
