/** Jobs of a sweep that a scheduler runs: what a launcher need not say itself about them is worked out here. */
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { failedJob, type JobResult } from "../job/job.ts";
import type { SweepJob } from "../job/plan-job.ts";
import { listenForInterrupt } from "../job/process/interrupt.ts";
import {
  ended,
  hasEnded,
  type JobState,
  readJobState,
  tookMs,
  writeJobState,
} from "../record/job-state.ts";
import { currentJobs, readManifest } from "../record/manifest.ts";
import { nextCommands, typedCommand } from "../record/next-commands.ts";
import { isScheduled } from "../record/orphans.ts";
import { plural } from "../text/plural.ts";
import { shellQuote } from "../text/shell-words.ts";
import { ConfigError } from "../values/errors.ts";
import type {
  LaunchEvent,
  Launcher,
  LauncherRequest,
  ScheduledEvent,
  ScheduledJob,
  SchedulerBackend,
  WatchOptions,
} from "./launcher.ts";

/** A scheduler's side of a sweep with nothing left out. */
export type SweepBackend = Required<SchedulerBackend>;

/** Between looks at the jobs' own records. */
const RECORDS_MS = 500;
/** Between questions to the scheduler, which many users ask: soon while things happen, then rarely. */
const QUESTIONS_MS = { first: 2_000, most: 15_000, growth: 1.5 };
/** How much later than the scheduler's word a record may be seen: file systems of clusters are slow to show a new file. */
const RECORD_DELAY_MS = 2_000;

/** @param folder the absolute path of the `.sweep` folder */
export function completeBackend(backend: SchedulerBackend, folder: string): SweepBackend {
  const numbers = () => currentJobs(readManifest(folder)).map(({ number }) => number);
  return {
    status: (options) => backend.status(options),
    cancel: (options) => backend.cancel(options),
    handedOver: () =>
      backend.handedOver?.() ??
      new Set(numbers().filter((number) => !hasEnded(readJobState(folder, number)))),
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
  const state = readJobState(folder, number);
  const last = state?.attempts.at(-1);
  return state?.status === "running" && last !== undefined && isScheduled(last);
}

/** Records a job whose scheduler has ended it before it could record that itself. */
function recordLost(folder: string, number: number): void {
  const state = readJobState(folder, number);
  if (state === undefined) return;
  const error = "the scheduler ended it";
  const stopped = ended(state, { status: "stopped", exitCode: null, error });
  writeJobState(folder, stopped, { durable: true });
}

const attemptsOf = (state: JobState | undefined): number => state?.attempts.length ?? 0;

/** A job that is watched. */
interface Watched {
  readonly number: number;
  /** Attempts that it had before it was watched. */
  readonly before: number;
  isStarted: boolean;
  pendingReason: string | null;
  /** Since when the scheduler does not have it any more, on a monotonic clock. */
  goneSince?: number;
}

/** Watches the jobs' own records, and asks the scheduler for those that cannot write any more. Ends when all have ended. */
async function* watchJobs(
  backend: SchedulerBackend,
  folder: string,
  numbers: () => readonly number[],
  { attemptsBefore, numbers: chosen, signal }: WatchOptions,
): AsyncGenerator<ScheduledEvent> {
  let live = liveNumbers(await backend.status({ ...(signal && { signal }) }));
  const watched = new Map<number, Watched>();
  for (const number of numbers()) {
    const state = readJobState(folder, number);
    // Of a job that is in the queue again, the record tells how an earlier attempt ended.
    const isWatched = chosen?.has(number) ?? (live.has(number) || isOpen(folder, number));
    const made = attemptsOf(state) - (state?.status === "running" ? 1 : 0);
    const before = attemptsBefore?.get(number) ?? made;
    if (isWatched) watched.set(number, { number, before, isStarted: false, pendingReason: null });
  }
  let pause: number = QUESTIONS_MS.first;
  let next = 0;
  while (watched.size > 0 && signal?.aborted !== true) {
    if (performance.now() >= next) {
      const jobs = await backend.status({ ...(signal && { signal }) });
      live = liveNumbers(jobs);
      yield* newlyHeld(watched, jobs);
      next = performance.now() + pause;
      pause = Math.min(pause * QUESTIONS_MS.growth, QUESTIONS_MS.most);
    }
    for (const one of watched.values())
      for (const event of eventsOf(one, folder, live.has(one.number))) {
        if (event.kind === "ended" || event.kind === "dropped") watched.delete(one.number);
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

function* eventsOf(one: Watched, folder: string, isLive: boolean): Generator<ScheduledEvent> {
  const { before, number } = one;
  const state = readJobState(folder, number);
  const isNew = state !== undefined && state.attempts.length > before;
  const isOver = state?.status === "stopped" || hasEnded(state);
  if (isNew && !one.isStarted) {
    one.isStarted = true;
    yield { kind: "started", number };
  }
  if (isNew && isOver) {
    yield { kind: "ended", number };
    return;
  }
  if (isLive) {
    delete one.goneSince;
    return;
  }
  one.goneSince ??= performance.now();
  if (performance.now() - one.goneSince < RECORD_DELAY_MS) return;
  if (isNew) {
    recordLost(folder, number);
    yield { kind: "ended", number };
  } else yield { kind: "dropped", number, reason: "the scheduler does not have it any more" };
}

/** Jobs that have begun to wait for an action of the user, by that action, and those that no longer do. */
function* newlyHeld(
  watched: ReadonlyMap<number, Watched>,
  jobs: readonly ScheduledJob[],
): Generator<ScheduledEvent> {
  const pending = new Map<string | null, number[]>();
  for (const { number, pendingReason } of jobs) {
    const one = watched.get(number);
    if (one === undefined || one.pendingReason === pendingReason) continue;
    one.pendingReason = pendingReason;
    pending.set(pendingReason, [...(pending.get(pendingReason) ?? []), number]);
  }
  for (const [pendingReason, numbers] of pending) yield { kind: "held", numbers, pendingReason };
}

/** A sweep whose launcher keeps notes and is not installed: the jobs of its scheduler are unknown. */
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

/** How a launcher reports its jobs while it follows them. */
export interface FollowOptions {
  /** Where jobs go on that are no longer followed: `Slurm`. Default: `the scheduler`. */
  readonly scheduler?: string;
  /** What a job came to. Default: what its record says. */
  readonly resultOf?: (job: SweepJob) => JobResult;
  /** As `WatchOptions` has it. */
  readonly attemptsBefore?: ReadonlyMap<number, number>;
}

/** A launcher with nothing left out: one that only submits jobs is completed with what follows them. */
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
    if (due.length > 0) await submit?.(due, signal);
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
 * Follows jobs that a scheduler has to their ends. Ctrl-C ends the following, never the jobs. Once no other job may start, those that wait
 * are withdrawn.
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
  let withdrawn = false;
  try {
    const watch = {
      numbers: new Set(jobs.keys()),
      signal: interrupt.signal,
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
      if (event.kind === "started") yield { kind: "started", job };
      else if (event.kind === "retried") yield { kind: "retried", job, reason: event.reason };
      else {
        open.delete(event.number);
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
    interrupt.release();
  }
  const [first] = open.values();
  if (!interrupt.signal.aborted || first === undefined) return;
  say(
    `Stopped following ${plural(open.size, "job; it goes", "jobs; they go")} on in ${scheduler}.\n` +
      `  ${typed?.program ?? ""} --resume ${shellQuote(directory)}   follows them again\n${nextCommands(directory, ["wait", "cancel"], typed?.hydraconf).trimEnd()}`,
  );
  const left = failedJob(first, failure("no longer followed"));
  yield { kind: "ended", job: first, result: { ...left, exitCode: interrupt.exitCode() ?? 130 } };
}

/** The result of a job that its scheduler has dropped before it began. */
const lost = (job: SweepJob, reason: string): JobResult => ({
  ...failedJob(job, failure(reason)),
  isLeftUndone: true,
});

const failure = (message: string): ConfigError => new ConfigError({ code: "app.job", message });

function tookOf(folder: string, { number }: SweepJob): { readonly took?: number } {
  const last = readJobState(folder, number)?.attempts.at(-1);
  return last !== undefined && last.ended !== null ? { took: tookMs(last) } : {};
}
