/** What a launcher is: how it is declared, what it is given, what it tells. */
import type { Signal, StopSignal } from "../../foundation/system/platform-types.ts";
import type { Suspension } from "../../foundation/system/process-signals.ts";
import type { EndStatus } from "../job/ender.ts";
import type { JobResult } from "../job/job.ts";
import type { Logger } from "../job/logging/logger.ts";
import type { SweepJob } from "../job/plan-job.ts";
import type { Invocation } from "../job/process/invocation.ts";
import type { SweepRecord } from "../record/sweep-record.ts";

/**
 * Events of the jobs of a batch, as they happen. Every job that started ends, unless a scheduler goes on with it after
 * the sweep was stopped.
 */
export type LaunchEvent =
  | { readonly kind: "started"; readonly job: SweepJob }
  /** An attempt has ended in this state, and the job will start again. */
  | {
      readonly kind: "retried";
      readonly job: SweepJob;
      readonly reason: string;
      readonly status?: EndStatus;
    }
  /** Waiting jobs need an action of the user, which the text names; null once that is over. */
  | {
      readonly kind: "held";
      readonly jobs: readonly SweepJob[];
      readonly pendingReason: string | null;
    }
  | {
      readonly kind: "ended";
      readonly job: SweepJob;
      readonly result: JobResult;
      /** Milliseconds, if the job itself has recorded them: its start and its end may be seen late. */
      readonly took?: number;
    }
  /** The last event, if a signal to this process stops the sweep: no other job starts. */
  | {
      readonly kind: "stopped";
      readonly signal: Signal;
      /** Whether a scheduler goes on with the jobs that have not ended. */
      readonly goesOn?: boolean;
    };

/**
 * Runs the jobs of a batch somewhere, and ensures that the end of each is recorded (`app/record/job-state.ts`): workers
 * record their own jobs, unless they are killed. No job starts unless the gate allows it.
 */
export interface Launcher {
  /** Runs jobs to their ends. Not needed if there are `submit` and a `backend`, through which the jobs are followed. */
  launch?(batch: readonly SweepJob[]): AsyncIterable<LaunchEvent>;
  /**
   * Submits the jobs of a batch to a scheduler that runs them without this process, and returns at once. Absent if jobs
   * need a process of ours. A launcher without `launch` does not receive the jobs of a resumed sweep that its scheduler
   * still has.
   * @param signal ends the wait for a scheduler that accepts no jobs for now
   */
  submit?(batch: readonly SweepJob[], signal: StopSignal): Promise<void>;
  /** Called once no other batch follows: releases resources that were kept for one. */
  close?(): void;
}

/** The keys of `hydra.launcher` as plain data, interpolations resolved. */
export type LauncherSettings = Readonly<Record<string, unknown>>;

/** The properties of a sweep that its launcher needs. */
export interface LauncherRequest {
  readonly settings: LauncherSettings;
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  /**
   * The absolute path of the folder for the launcher's own notes. It is not created here, and is removed when a new
   * sweep begins in the directory.
   */
  readonly notes: string;
  /** The environment of the program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether an earlier call began the sweep. */
  readonly isResumed: boolean;
  /** A logger that writes to Hydra's own log. */
  readonly logger: (name: string) => Logger;
  /** Writes a line on standard error. */
  readonly say: (line: string) => void;
  /** Whether another job may start; called before each start. */
  readonly mayStart: () => boolean;
  /** Runs a job in this process and records it; a failure is in the result. */
  readonly runHere: (job: SweepJob) => Promise<JobResult>;
  /**
   * The command of a process that runs a job and records its end, on this machine or another one with the same files.
   * @throws ConfigError `app.unsupported` for sweeps whose jobs no other process can run
   */
  readonly workerCommand: (job: SweepJob) => WorkerCommand;
  /** The result of a job, from its record; undefined before its end. */
  readonly resultOf: (job: SweepJob) => JobResult | undefined;
  /**
   * Waits for a process of an earlier launcher that still runs a job, and returns the job's result; undefined if the
   * job has to be started. In a resumed sweep it is called before each job is started.
   * @throws ConfigError `app.sweep_record` for a process on another machine
   */
  readonly endOfEarlier: (job: SweepJob) => Promise<JobResult | undefined>;
  /** @internal */
  readonly internals: LauncherInternals;
}

/** For hydraconf's own launchers only. */
export interface LauncherInternals {
  readonly record: SweepRecord;
  readonly invocation: Invocation;
  /** Whether tasks leave no state in their processes. */
  readonly reusesWorkers: boolean;
  /** Whether the first failed job ends the sweep by Hydra's own setting. */
  readonly failsFast: boolean;
  /** Whether the only job is a single run, whose output is shown. */
  readonly isRun: boolean;
  /** Ends jobs early; absent if the sweep does not. */
  readonly pruning?: Pruning;
  /** Suspends the launcher's processes with this one; absent if the launcher's own processes run no jobs. */
  readonly suspension?: Suspension;
}

/** Ends jobs of a search early, by the metrics that they and others have reported. */
export interface Pruning {
  /** Takes the metrics of jobs that have ended, in this call or an earlier one. */
  note(ended: readonly SweepJob[]): void;
  /** Reads what is new. @returns the jobs that are to end, each once, with the step at which that was decided */
  look(running: readonly SweepJob[]): readonly { readonly number: number; readonly step: number }[];
}

/** How to start the worker of a job: a separate process in this directory. */
export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Variables to add to the launcher's environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** A scheduler's information about the process of a worker. */
export interface ScheduledTask {
  /** The scheduler's id of the job, for its record. */
  readonly id: string;
  /** Whether this process records the job: the first of the processes that run it together. Default: true. */
  readonly isFirst?: boolean;
  /** Signals in addition to the usual ones, which the scheduler sends when the job's time is nearly up. */
  readonly signals?: readonly Signal[];
}

/** A setting with the same meaning, or what to do instead. */
export type InsteadOf = { readonly nearest: string } | { readonly hint: string };

/** A launcher that configs can choose, as data. */
export interface LauncherDefinition {
  /** Identifies it among all launchers: small letters, digits and dashes. Also the name of the folder for its notes. */
  readonly name: string;
  /** The classes that `hydra.launcher._target_` may name for it. */
  readonly targets: readonly string[];
  /**
   * The keys of `hydra.launcher` that it knows in addition to common ones; others are refused. By default those of the
   * class that its group declares, and any key if it declares none.
   */
  readonly settings?: readonly string[];
  /** The alternative to an unknown setting; without one, the error is that for any unknown name. */
  readonly insteadOf?: (setting: string) => InsteadOf;
  /**
   * How often a failed job starts again; by default never.
   * @throws ConfigError for settings that it does not support
   */
  readonly retries?: (settings: LauncherSettings) => number;
  /** The `hydra.job.id` of a job; by default its number. */
  readonly jobId?: (number: number, name: string) => string;
  /**
   * Whether it reads settings of each job: an interpolation in `hydra.launcher` is then also resolved in the job's own
   * config.
   */
  readonly settingsByJob?: true;
  /** Whether jobs run in this process, and share its output. */
  readonly inThisProcess?: true;
  /** Whether it ends jobs early as `internals.pruning` says. */
  readonly prunes?: true;
  /** Whether jobs run on other machines: checks that depend on the machine then happen there. */
  readonly runsElsewhere?: boolean;
  /** @throws ConfigError for settings that it does not support */
  readonly open: (request: LauncherRequest) => Launcher;
  /**
   * The jobs of a recorded sweep in their scheduler, for a process that is started later; undefined if none were
   * submitted. Absent for a launcher without a scheduler.
   */
  readonly backend?: (request: BackendRequest) => Promise<SchedulerBackend | undefined> | undefined;
  /** Reads from the environment of a worker that this launcher's scheduler started it; undefined if it did not. */
  readonly scheduledTask?: (
    env: Readonly<Record<string, string | undefined>>,
  ) => ScheduledTask | undefined;
}

/** A recorded sweep, for a query to its launcher. */
export interface BackendRequest {
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  /** The folder of the launcher's own notes, as in `LauncherRequest`. */
  readonly notes: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The state of a job in a scheduler, which runs it independently of this process. */
export interface ScheduledJob {
  readonly number: number;
  /** The scheduler's id of the job: `4711_3`. */
  readonly id: string;
  readonly phase: "waiting" | "running" | "over";
  /** In the scheduler's words: `PENDING (Resources)`. */
  readonly state: string;
  /**
   * Why it will never start, and what to do about it; null for a job that only waits, or runs. Jobs with the same
   * reason have the same text.
   */
  readonly pendingReason: string | null;
}

/**
 * Events of scheduled jobs. `retried`: an attempt has ended in this state, and the job starts again. `dropped`: the scheduler
 * removed it before it started; it has no record and is still missing. `held`: jobs wait for an action of the user,
 * which the text names; null once that is over.
 */
export type ScheduledEvent =
  | { readonly kind: "started"; readonly number: number }
  | {
      readonly kind: "retried";
      readonly number: number;
      readonly reason: string;
      readonly status?: EndStatus;
    }
  | { readonly kind: "ended"; readonly number: number }
  | { readonly kind: "dropped"; readonly number: number; readonly reason: string }
  | {
      readonly kind: "held";
      readonly numbers: readonly number[];
      readonly pendingReason: string | null;
    };

/**
 * A sweep whose jobs a scheduler runs, for any process that is started later: `hydraconf sweep status`, `wait`,
 * `cancel`, and a launcher that resumes. All the data it needs is in the sweep's folder.
 */
export interface SchedulerBackend {
  /**
   * The submitted jobs that the scheduler still knows.
   * @throws ConfigError if it does not answer
   */
  status(options?: QuestionOptions): Promise<readonly ScheduledJob[]>;
  /** Cancels some or all jobs; jobs that are over stay unchanged. */
  cancel(options?: CancelOptions): Promise<void>;
  /**
   * The jobs that the scheduler may still have according to the records, without asking it. By default all jobs without
   * a recorded end.
   */
  handedOver?(): ReadonlySet<number>;
  /**
   * Records the end of jobs that are over and could not do so themselves, for a sweep without a driver. By default a
   * job that runs according to its record, and that `status` does not list, is recorded as stopped.
   * @returns the jobs whose state the scheduler did not report; undefined if it reported all
   * @throws ConfigError if it does not answer; then nothing changes
   */
  reconcile?(options?: QuestionOptions): Promise<UnansweredStatus | undefined>;
  /**
   * Events of the submitted jobs, until all have ended or the signal aborts. The record of a job that the scheduler
   * lost says what happened to it. By default the records of the jobs are polled, and `status` at longer intervals.
   */
  watch?(options?: WatchOptions): AsyncIterable<ScheduledEvent>;
}

/** Options for a query to a scheduler. */
export interface QuestionOptions {
  /** Aborts the query: then the scheduler counts as not answering. */
  readonly signal?: StopSignal;
}

/** A scheduler's answer without the state of some jobs. */
export interface UnansweredStatus {
  readonly problem: string;
  /** The numbers of these jobs, which may or may not be over. */
  readonly jobs: ReadonlySet<number>;
}

/** Which jobs of a scheduler to follow, and how long. */
export interface WatchOptions {
  /** Only these jobs. */
  readonly numbers?: ReadonlySet<number>;
  readonly signal?: StopSignal;
  /**
   * How many starts jobs had before they were submitted, by number, if the caller knows: later attempts are reported as
   * events.
   */
  readonly attemptsBefore?: ReadonlyMap<number, number>;
}

/** Which jobs of a scheduler to cancel. */
export interface CancelOptions {
  /** Only these jobs. */
  readonly numbers?: ReadonlySet<number>;
  /** Cancels only waiting jobs. */
  readonly onlyWaiting?: boolean;
}
