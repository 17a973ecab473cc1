/** The launcher that runs jobs in processes of this machine. */
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import type { Signal } from "../../../foundation/system/platform-types.ts";
import { INTERRUPTS, type Suspendable } from "../../../foundation/system/process-signals.ts";
import { agreeing, firstFewOf, plural } from "../../../foundation/text/plural.ts";
import { isFailure, PRUNE_SIGNAL } from "../../job/ender.ts";
import type { SweepJob } from "../../job/plan-job.ts";
import type { JobState } from "../../record/job-state.ts";
import { jobLog, slotsFolder } from "../../record/layout.ts";
import { nextCommand, typedCommand } from "../../record/next-commands.ts";
import { liveWorkers } from "../../record/orphans.ts";
import { notePruned } from "../../record/recorded-job.ts";
import { followLog } from "../job-log.ts";
import { loggedOverrides } from "../job-overrides.ts";
import type {
  LaunchEvent,
  Launcher,
  LauncherDefinition,
  LauncherRequest,
  LauncherSettings,
} from "../launcher.ts";
import { refuseUnstartable } from "../worker.ts";
import { type SettingsReader, STANDARD } from "./local-settings.ts";
import { onThisMachine, type PlacedSettings, withinSlots } from "./machine-slots.ts";
import { openSlots, type SlotAttempt, type SlotPool, slotsOfMachine } from "./slots.ts";
import { createWorkers, type RunningJob, startJob, type Workers } from "./worker-process.ts";

const LOGGER = "hydraconf.launchers.local";

/** How a launcher of local processes differs from ours in its output. */
export interface Appearance extends Pick<LauncherDefinition, "jobId"> {
  /** Logs a batch in place of our own lines. */
  readonly logBatch?: (batch: readonly SweepJob[], request: LauncherRequest) => void;
  /** Logs a job that starts in place of our own line; called before it starts. */
  readonly logJob?: (job: SweepJob, request: LauncherRequest) => void;
  /**
   * Where jobs print. `log`: to a file of each; `followed`: which is also shown in the output of the sweep; `console`:
   * on the console of the sweep itself, without a file. Default: `log`.
   */
  readonly output?: "log" | "followed" | "console";
}

/**
 * Runs jobs as processes of this machine, several at a time.
 *
 * @param read throws ConfigError `value.wrong_type` for an unsupported setting
 */
export const localLauncher = (
  name: string,
  target: string,
  read: SettingsReader,
  appearance: Appearance = {},
): LauncherDefinition => ({
  name,
  targets: [target],
  ...(appearance.jobId && { jobId: appearance.jobId }),
  retries: (settings) => read(settings).retries,
  settingsByJob: true,
  prunes: true,
  open: (request) => {
    const { isRun } = request.internals;
    return openLocal(request, read, isRun ? { output: "followed", ...appearance } : appearance);
  },
});

/** Runs the jobs of a sweep one after the other, on its console. */
export const oneAtATime = (
  request: LauncherRequest,
  appearance: Omit<Appearance, "output">,
): Launcher => openLocal(request, () => STANDARD, { ...appearance, output: "console" });

function openLocal(
  request: LauncherRequest,
  read: SettingsReader,
  appearance: Appearance,
): Launcher {
  const settingsIn = (section: LauncherSettings) => onThisMachine(read(section), request.env);
  const ofSweep = settingsIn(request.settings);
  const workers = createWorkers({
    isReusing: ofSweep.reusesWorkers ?? request.internals.reusesWorkers,
    isOnConsole: appearance.output === "console",
  });
  const settings = { ofSweep, settingsIn, workers };
  return {
    launch: (batch) => launch(batch, request, settings, appearance),
    close: workers.close,
  };
}

interface SettingsRequest {
  readonly ofSweep: PlacedSettings;
  /** Resolves the settings of a job that differ from the sweep's. */
  readonly settingsIn: (section: LauncherSettings) => PlacedSettings;
  readonly workers: Workers;
}

/** The settings of the jobs of a batch. */
interface JobSettings {
  /** The largest number of parallel processes. */
  readonly atOnce: number;
  readonly settingsOf: (job: SweepJob) => PlacedSettings;
  readonly poolOf: (job: SweepJob) => SlotPool;
  readonly workers: Workers;
}

/** Reads the settings of all jobs before the first one starts, so that errors are reported at once. */
function settingsOfJobs(
  batch: readonly SweepJob[],
  { ofSweep, settingsIn, workers }: SettingsRequest,
  folder: string,
): JobSettings {
  const byLauncher = new Map<SweepJob["launcher"], readonly [PlacedSettings, SlotPool]>();
  const placedOf = ({ launcher }: SweepJob) =>
    getOrCreate(byLauncher, launcher, (): readonly [PlacedSettings, SlotPool] => {
      const settings = launcher === undefined ? ofSweep : settingsIn(launcher);
      return [settings, poolOf(settings, folder)];
    });
  for (const job of batch) placedOf(job);
  const sets =
    byLauncher.size === 0 ? [ofSweep] : [...byLauncher.values()].map(([settings]) => settings);
  return {
    // How many of them find free slots is decided as they start.
    atOnce: Math.max(
      ...sets.map((settings) => withinSlots({ ...settings, jobs: ofSweep.jobs }).jobs),
    ),
    settingsOf: (job) => placedOf(job)[0],
    poolOf: (job) => placedOf(job)[1],
    workers,
  };
}

/** The interval between attempts to take slots that other sweeps hold. */
const SLOTS_MS = 300;

/** The interval between looks at the metrics of running jobs. */
const PRUNING_MS = 100;

/** A batch while its jobs run. */
interface BatchRun {
  readonly request: LauncherRequest;
  readonly settings: JobSettings;
  readonly log: ReturnType<typeof openLog>;
  readonly queue: JobQueue;
  readonly running: Set<RunningJob>;
  readonly endings: Endings<Ended>;
  readonly interruption: Interruption;
  readonly isFollowed: boolean;
  /** Each stops showing the output of a job. */
  readonly followers: Set<() => void>;
}

interface Ended {
  readonly running: RunningJob;
  readonly state: JobState | "not begun";
}

/** Starts jobs as slots become free, and handles their ends, until no job waits or runs. */
async function* launch(
  batch: readonly SweepJob[],
  request: LauncherRequest,
  settings: SettingsRequest,
  appearance: Appearance,
): AsyncGenerator<LaunchEvent> {
  refuseUnstartable(request.internals.record.facts());
  const run = beginBatch(batch, request, settings, appearance);
  const { endings, followers, interruption, running } = run;
  const separate = request.internals.suspension?.join(together(running));
  try {
    for (;;) {
      const lacksSlots = yield* startJobs(run);
      if (running.size === 0 && !lacksSlots) break;
      const isPruning = request.internals.pruning !== undefined;
      const ended = await endings.next(
        lacksSlots || isPruning ? (isPruning ? PRUNING_MS : SLOTS_MS) : undefined,
      );
      if (ended !== undefined) yield* takeIn(ended, run);
      pruneJobs(run);
    }
    const signal = interruption.signal();
    // Even if it ended no job.
    if (signal !== undefined) yield { kind: "stopped", signal };
  } finally {
    separate?.();
    interruption.release();
    // Left by an error: a record that cannot be read or written, for example.
    for (const stop of followers) stop();
    abandon(running, request);
  }
}

/** Leaves jobs to their workers, which record them, so that this process can end. */
function abandon(
  running: ReadonlySet<RunningJob>,
  { directory, internals, say }: LauncherRequest,
): void {
  if (running.size === 0) return;
  for (const { worker } of running) worker.abandon();
  const numbers = firstFewOf([...running], 10, ({ job }) => `#${job.number}`);
  const hydraconf = typedCommand(internals.invocation)?.hydraconf;
  const [wait, cancel] = (["wait", "cancel"] as const).map((action) =>
    nextCommand(action, directory, hydraconf),
  );
  const [it, its] = running.size === 1 ? ["it", "its process"] : ["them", "their processes"];
  say(
    `${running.size === 1 ? "Job" : "Jobs"} ${numbers} ${agreeing(running.size, "is", "are")} left to ${its}: '${wait}' and --resume wait for ${it}, '${cancel}' ends ${it}`,
  );
}

/** Jobs run in their own process groups, which keyboard signals of the terminal do not reach. */
function together(running: ReadonlySet<RunningJob>): Suspendable {
  let goOn: readonly (() => void)[] = [];
  return {
    suspend() {
      goOn = [...running].map(({ worker }) => worker.suspend());
    },
    resume() {
      for (const resume of goOn) resume();
      goOn = [];
    },
  };
}

function beginBatch(
  batch: readonly SweepJob[],
  request: LauncherRequest,
  settingsRequest: SettingsRequest,
  appearance: Appearance,
): BatchRun {
  const { folder } = request.internals.record;
  const settings = settingsOfJobs(batch, settingsRequest, folder);
  const running = new Set<RunningJob>();
  return {
    request,
    settings,
    log: openLog(batch, request, settings.atOnce, appearance),
    isFollowed: appearance.output === "followed",
    followers: new Set(),
    queue: createQueue(batch, folder),
    running,
    endings: createEndings(),
    interruption: listenForSignals((signal) => {
      for (const { worker } of running) worker.signal(signal);
    }),
  };
}

/**
 * Starts waiting jobs, in order, while there is room.
 *
 * @returns whether the next job only lacks slots, which other sweeps hold
 */
function* startJobs(run: BatchRun): Generator<LaunchEvent, boolean> {
  const { endings, isFollowed, log, queue, request, running, settings } = run;
  while (running.size < settings.atOnce && !isStopping(run) && request.mayStart()) {
    const job = queue.first();
    if (job === undefined) return false;
    log.starts(job);
    const start = startJob(
      job,
      queue.starts(job) === 0,
      { pool: settings.poolOf(job), workers: settings.workers, most: settings.atOnce },
      request,
      settings.settingsOf(job),
    );
    if (start.kind === "lacks slots") {
      if (running.size === 0) log.lacksSlots(start.attempt);
      return true;
    }
    queue.shift();
    if (start.kind === "running") {
      log.started(job);
      running.add(start.running);
      if (isFollowed) follow(start.running, run);
      endings.add(start.running.worker.ended.then((state) => ({ ...start, state })));
    }
    yield { kind: "started", job };
    if (start.kind === "over") yield { kind: "ended", job, result: start.result };
  }
  return false;
}

function follow({ job, logStart, worker }: RunningJob, { followers, request }: BatchRun): void {
  const { invocation, record } = request.internals;
  const stopFollowing = followLog(
    jobLog(record.folder, job.number),
    logStart,
    invocation.console.stdout,
  );
  const stop = (): void => {
    if (followers.delete(stop)) stopFollowing();
  };
  followers.add(stop);
  // Also after a failure: a log that is still followed would keep this process alive.
  worker.ended.then(stop, stop);
}

/** Reports the outcome of a job whose worker has ended, or requeues it. */
function* takeIn(ended: Ended, run: BatchRun): Generator<LaunchEvent> {
  const { queue, request, running, settings } = run;
  const { job, slots } = ended.running;
  running.delete(ended.running);
  slots?.giveBack();
  if (ended.state === "not begun") {
    queue.takeBack(job);
    return;
  }
  const { attempts, status } = ended.state;
  if (
    isFailure(status) &&
    !isStopping(run) &&
    queue.starts(job) <= settings.settingsOf(job).retries
  ) {
    queue.putBack(job);
    yield { kind: "retried", job, status, reason: attempts.at(-1)?.error ?? status };
    return;
  }
  const result = request.resultOf(job);
  if (result !== undefined) yield { kind: "ended", job, result };
}

/** Asks jobs to end that are not worth going on. */
function pruneJobs({ request, running }: BatchRun): void {
  const { pruning, record } = request.internals;
  if (pruning === undefined) return;
  const jobs = [...running];
  for (const { number, step } of pruning.look(jobs.map(({ job }) => job))) {
    notePruned(record.folder, number, step);
    jobs.find(({ job }) => job.number === number)?.worker.signal(PRUNE_SIGNAL);
  }
}

const isStopping = ({ interruption }: BatchRun): boolean => interruption.signal() !== undefined;

/** The launcher's log messages about a batch. */
function openLog(
  batch: readonly SweepJob[],
  request: LauncherRequest,
  most: number,
  { logBatch, logJob }: Appearance,
) {
  const log = request.logger(LOGGER);
  const atOnce = Math.min(most, Math.max(1, batch.length));
  if (logBatch === undefined)
    log.info(
      `Launching ${plural(batch.length, "job")} in ${plural(atOnce, "process", "processes")}`,
    );
  else logBatch(batch, request);
  let isToldOfSlots = false;
  return {
    starts: (job: SweepJob) => logJob?.(job, request),
    started(job: SweepJob) {
      if (logBatch === undefined) log.info(`\t#${job.number} : ${loggedOverrides(job)}`);
    },
    /** Once: a sweep may wait for hours. */
    lacksSlots({ holder, resource, slot }: SlotAttempt & { readonly kind: "none" }) {
      if (isToldOfSlots) return;
      isToldOfSlots = true;
      const use = holder.use === undefined ? "" : ` (${holder.use})`;
      log.info(`Waiting for a slot of ${resource}: process ${holder.pid} holds ${slot}${use}`);
    },
  };
}

const poolOf = ({ resources, slotScope }: PlacedSettings, folder: string): SlotPool =>
  openSlots(
    resources,
    slotScope === "sweep" || resources.size === 0 ? slotsFolder(folder) : slotsOfMachine(),
  );

/** Results of promises, in the order in which they settle. */
interface Endings<T> {
  /** Subscribes once, however often `next` is called: a promise keeps its listeners forever. */
  add(ending: Promise<T>): void;
  /**
   * @param within milliseconds; undefined: without a time limit
   * @returns undefined if nothing settles in that time
   * @throws the error of a rejected promise
   */
  next(within?: number): Promise<T | undefined>;
}

export function createEndings<T>(): Endings<T> {
  const over: (() => T)[] = [];
  let wake = (): void => {};
  const settle = (outcome: () => T): void => {
    over.push(outcome);
    wake();
  };
  return {
    add(ending) {
      ending.then(
        (value) => settle(() => value),
        (reason) =>
          settle(() => {
            throw reason;
          }),
      );
    },
    async next(within) {
      if (over.length === 0)
        await new Promise<void>((done) => {
          const timer = within === undefined ? undefined : setTimeout(done, within);
          wake = () => {
            clearTimeout(timer);
            done();
          };
        });
      return over.shift()?.();
    },
  };
}

/** The waiting jobs of a batch, in the order of their starts. */
interface JobQueue {
  first(): SweepJob | undefined;
  /** Removes the first job, which starts. */
  shift(): void;
  /** Requeues a job that is to start again, before all others. */
  putBack(job: SweepJob): void;
  /** Requeues a job that had not begun: its start does not count. */
  takeBack(job: SweepJob): void;
  /** How often this launcher started a job. */
  starts(job: SweepJob): number;
}

/** Jobs that workers of an earlier launcher still run come first, because those workers hold slots. */
function createQueue(batch: readonly SweepJob[], folder: string): JobQueue {
  const left = new Set(liveWorkers(folder, batch).map(({ number }) => number));
  const jobs = batch.toSorted((a, b) => Number(left.has(b.number)) - Number(left.has(a.number)));
  const starts = new Map<SweepJob, number>();
  return {
    first: () => jobs[0],
    shift() {
      const job = jobs.shift();
      if (job !== undefined) starts.set(job, (starts.get(job) ?? 0) + 1);
    },
    putBack: (job) => void jobs.unshift(job),
    takeBack(job) {
      jobs.unshift(job);
      starts.set(job, (starts.get(job) ?? 1) - 1);
    },
    starts: (job) => starts.get(job) ?? 0,
  };
}

interface Interruption {
  /** The first signal received. */
  signal(): Signal | undefined;
  release(): void;
}

/** @param passOn called with each signal: a second one may end a job sooner */
function listenForSignals(passOn: (signal: Signal) => void): Interruption {
  let first: Signal | undefined;
  const onSignal = (signal: Signal): void => {
    first ??= signal;
    passOn(signal);
  };
  for (const signal of INTERRUPTS) process.on(signal, onSignal);
  return {
    signal: () => first,
    release() {
      for (const signal of INTERRUPTS) process.off(signal, onSignal);
    },
  };
}
