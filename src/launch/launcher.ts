import type { JobResult } from "../job/job.ts";
import type { Logger } from "../job/logging/logger.ts";
import type { SweepJob } from "../job/plan-job.ts";
import type { Invocation } from "../job/process/invocation.ts";
import type { SweepRecord } from "../record/sweep-record.ts";
import type { Suspension } from "../system/process-signals.ts";

/**
 * What happens to the jobs of a batch, as it happens. Every job that started ends; after one that a
 * signal stopped, no other starts.
 */
export type LaunchEvent =
  | { readonly kind: "started"; readonly job: SweepJob }
  /** An attempt went wrong, and the job will start again. */
  | { readonly kind: "retried"; readonly job: SweepJob; readonly reason: string }
  /** Waiting jobs need an action of the user, as the text says; null where that is over. */
  | {
      readonly kind: "held";
      readonly jobs: readonly SweepJob[];
      readonly pendingReason: string | null;
    }
  | {
      readonly kind: "ended";
      readonly job: SweepJob;
      readonly result: JobResult;
      /** Milliseconds, where the job itself has told: it may be learned later that it began and that it ended. */
      readonly took?: number;
    };

/**
 * Runs the jobs of a batch somewhere, and sees to it that what becomes of each is recorded
 * (`record/job-state.ts`): jobs run by workers record it themselves, but for a worker that was
 * killed. No job starts unless the gate lets it.
 */
export interface Launcher {
  /** Runs jobs to their ends. Not needed by a launcher with `submit` and a `backend`: its jobs are followed through that. */
  launch?(batch: readonly SweepJob[]): AsyncIterable<LaunchEvent>;
  /**
   * Hands the jobs of a batch to a scheduler that runs them without us, and comes back at once. Not
   * there where jobs need a process of ours. A launcher without `launch` is not given jobs of a resumed sweep that its
   * scheduler still has.
   * @param signal ends the waiting for a scheduler that takes nothing for now
   */
  submit?(batch: readonly SweepJob[], signal: AbortSignal): Promise<void>;
  /** Called once no other batch follows: lets go of what was kept for one. */
  close?(): void;
}

/** The keys of `hydra.launcher` as plain data, interpolations resolved. */
export type LauncherSettings = Readonly<Record<string, unknown>>;

/** A sweep, as far as its launcher needs it. */
export interface LauncherRequest {
  readonly settings: LauncherSettings;
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  /** The absolute path of the folder for the launcher's own notes. It is not created, and removed when a new sweep begins there. */
  readonly notes: string;
  /** The environment of the program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the sweep was begun by an earlier call. */
  readonly isResumed: boolean;
  /** A logger that writes where Hydra's own messages go. */
  readonly logger: (name: string) => Logger;
  /** Writes a line on standard error. */
  readonly say: (line: string) => void;
  /** Whether another job may start: asked before each start. */
  readonly mayStart: () => boolean;
  /** Runs a job in this process and records it; a failure is in the result. */
  readonly runHere: (job: SweepJob) => Promise<JobResult>;
  /**
   * How to start a process, on this machine or another that sees the same files, that runs a job and records what becomes of it.
   * @throws ConfigError `app.unsupported` for sweeps whose jobs no other process can run
   */
  readonly workerCommand: (job: SweepJob) => WorkerCommand;
  /** The outcome of a job, by its record; undefined before its end. */
  readonly resultOf: (job: SweepJob) => JobResult | undefined;
  /**
   * Waits for a process of an earlier launcher that still runs a job, and gives what the job came to; undefined for a job that is to be
   * started. Of a resumed sweep it is asked before each job is started.
   * @throws ConfigError `app.sweep_record` for a process on another machine
   */
  readonly endOfEarlier: (job: SweepJob) => Promise<JobResult | undefined>;
  /** @internal */
  readonly internals: LauncherInternals;
}

/** What only launchers of hydraconf itself use. */
export interface LauncherInternals {
  readonly record: SweepRecord;
  readonly invocation: Invocation;
  /** Whether tasks leave nothing behind in their processes. */
  readonly reusesWorkers: boolean;
  /** Takes along what the launcher starts when this process is suspended; not there where none of its own runs jobs. */
  readonly suspension?: Suspension;
}

/** How to start the worker of a job: a process of its own, in this directory. */
export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** To be added to the environment of the launcher. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a scheduler says of the process that a worker is. */
export interface ScheduledTask {
  /** The scheduler's name of the job, for its record. */
  readonly id: string;
  /** Whether this process records the job: the first of those that run it together. Default: true. */
  readonly isFirst?: boolean;
  /** What the scheduler sends when the job's time is nearly up, beside the usual signals. */
  readonly signals?: readonly NodeJS.Signals[];
}

/** The setting that has the meaning of another one, or what to do instead. */
export type InsteadOf = { readonly nearest: string } | { readonly hint: string };

/** A launcher that configs can choose, as data. */
export interface LauncherDefinition {
  /** Names it among all launchers: small letters, digits and dashes. Its notes are in a folder of this name. */
  readonly name: string;
  /** The classes that `hydra.launcher._target_` may name for it. */
  readonly targets: readonly string[];
  /**
   * The keys of `hydra.launcher` that it knows besides common ones; another is refused. By default those
   * of the class that its group declares, and any where it declares none.
   */
  readonly settings?: readonly string[];
  /** What to say of a setting that it does not know; what it leaves out is said as of any name. */
  readonly insteadOf?: (setting: string) => InsteadOf;
  /**
   * How often a job that failed starts again; by default never.
   * @throws ConfigError for settings that it cannot follow
   */
  readonly retries?: (settings: LauncherSettings) => number;
  /** What `hydra.job.id` is in a job; by default its number. */
  readonly jobId?: (number: number, name: string) => string;
  /** Whether it reads settings of each job: an interpolation in `hydra.launcher` is then also resolved in the job's own config. */
  readonly settingsByJob?: true;
  /** Whether jobs run in this process, and print where it does. */
  readonly inThisProcess?: true;
  /** Whether jobs run on other machines: what depends on the machine is then checked there. */
  readonly runsElsewhere?: boolean;
  /** @throws ConfigError for settings that it cannot follow */
  readonly open: (request: LauncherRequest) => Launcher;
  /**
   * The jobs of a recorded sweep in their scheduler, for a process that is started later; undefined where
   * none were handed to it. Not there for a launcher without a scheduler.
   */
  readonly backend?: (request: BackendRequest) => Promise<SchedulerBackend | undefined> | undefined;
  /** Reads from the environment of a worker that its scheduler started it; undefined where it did not. */
  readonly scheduledTask?: (
    env: Readonly<Record<string, string | undefined>>,
  ) => ScheduledTask | undefined;
}

/** A recorded sweep, for a launcher that is asked about it. */
export interface BackendRequest {
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  /** The folder of the launcher's own notes, as `LauncherRequest` has it. */
  readonly notes: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How a job of a sweep stands with a scheduler that runs it whether or not we look. */
export interface ScheduledJob {
  readonly number: number;
  /** The scheduler's name of it: `4711_3`. */
  readonly id: string;
  readonly phase: "waiting" | "running" | "over";
  /** In the scheduler's words: `PENDING (Resources)`. */
  readonly state: string;
  /**
   * Why no turn of it will come, and what to do about it; null for one that only waits, or runs. The same text for all
   * jobs that it holds for.
   */
  readonly pendingReason: string | null;
}

/**
 * What happens to scheduled jobs. `retried`: an attempt was ended early, and the job starts again.
 * `dropped`: the scheduler gave it up before it started; it has no record and is still missing. `held`: jobs wait for
 * an action of the user, as the text says; null where that is over.
 */
export type ScheduledEvent =
  | { readonly kind: "started"; readonly number: number }
  | { readonly kind: "retried"; readonly number: number; readonly reason: string }
  | { readonly kind: "ended"; readonly number: number }
  | { readonly kind: "dropped"; readonly number: number; readonly reason: string }
  | {
      readonly kind: "held";
      readonly numbers: readonly number[];
      readonly pendingReason: string | null;
    };

/**
 * A sweep whose jobs a scheduler runs, for any process that is started later: `hydraconf sweep status`,
 * `wait`, `cancel`, and a launcher that resumes. All that it needs is in the sweep's folder.
 */
export interface SchedulerBackend {
  /**
   * The jobs that were handed to the scheduler, as far as it still knows them.
   * @throws ConfigError where it does not answer
   */
  status(options?: QuestionOptions): Promise<readonly ScheduledJob[]>;
  /** Ends jobs, or all; those that are over stay as they are. */
  cancel(options?: CancelOptions): Promise<void>;
  /**
   * The jobs that it may still have for all that the record says: no scheduler is asked. By default all jobs that have no recorded
   * end.
   */
  handedOver?(): ReadonlySet<number>;
  /**
   * Records how jobs ended that could not do it themselves and are over, for a sweep without a driver. By default a job
   * whose record says that it runs, and that `status` does not have, is recorded as stopped.
   * @returns what it does not say; undefined where it says all
   * @throws ConfigError where it does not answer; then all stays as it is
   */
  reconcile?(options?: QuestionOptions): Promise<UnansweredStatus | undefined>;
  /**
   * What happens to the jobs that were handed to the scheduler, until all have ended or the signal
   * comes. A job that the scheduler lost is recorded with what happened to it. By default the records of the jobs are read and
   * `status` is asked now and then.
   */
  watch?(options?: WatchOptions): AsyncIterable<ScheduledEvent>;
}

/** How a scheduler is asked. */
export interface QuestionOptions {
  /** Gives up the question: then the scheduler has not answered. */
  readonly signal?: AbortSignal;
}

/** A scheduler that says how jobs stand, and of some does not. */
export interface UnansweredStatus {
  readonly problem: string;
  /** The numbers of these jobs, of which it is unknown whether they are over. */
  readonly jobs: ReadonlySet<number>;
}

/** Which jobs of a scheduler are followed, and how long. */
export interface WatchOptions {
  /** Only these jobs. */
  readonly numbers?: ReadonlySet<number>;
  readonly signal?: AbortSignal;
  /** How often jobs had been started before they were submitted, by number, where the caller knows: what came later is news. */
  readonly attemptsBefore?: ReadonlyMap<number, number>;
}

/** Which jobs of a scheduler are ended. */
export interface CancelOptions {
  /** Only these jobs. */
  readonly numbers?: ReadonlySet<number>;
  /** Leaves those that run alone. */
  readonly onlyWaiting?: boolean;
}
