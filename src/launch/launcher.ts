import type { JobResult } from "../job/job.ts";
import type { Logging } from "../job/logging/logging.ts";
import type { SweepJob } from "../job/plan-job.ts";
import type { Invocation } from "../job/process/invocation.ts";
import type { SweepRecord } from "../record/sweep-record.ts";
import type { Suspension } from "../system/process-signals.ts";
import type { MapNode } from "../values/node.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import type { FailureGate } from "./failure-policy.ts";

/**
 * What happens to the jobs of a batch, as it happens. Every job that started ends; after one that a
 * signal stopped, no other starts.
 */
export type LaunchEvent =
  | { readonly kind: "started"; readonly job: SweepJob }
  /** An attempt went wrong, and the job will start again. */
  | { readonly kind: "retried"; readonly job: SweepJob; readonly reason: string }
  /** Somebody has to do something about jobs that wait, as the text says; null where that is over. */
  | { readonly kind: "held"; readonly jobs: readonly SweepJob[]; readonly obstacle: string | null }
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
  launch(batch: readonly SweepJob[]): AsyncIterable<LaunchEvent>;
  /**
   * Hands the jobs of a batch to a scheduler that runs them without us, and comes back at once. Not
   * there where jobs need a process of ours.
   * @param signal ends the waiting for a scheduler that takes nothing for now
   */
  submit?(batch: readonly SweepJob[], signal: AbortSignal): Promise<void>;
}

export interface LauncherRequest {
  /** The tree that the sweep starts from; `hydra.launcher` in it holds the launcher's settings. */
  readonly root: MapNode;
  readonly context: ResolveContext;
  readonly logging: Logging;
  /** Logs to where Hydra's own messages go again, after a job has logged to its own place. */
  readonly logAsHydra: () => void;
  readonly record: SweepRecord;
  /** Is told every result by the sweep; asked before a job starts. */
  readonly gate: FailureGate;
  readonly invocation: Invocation;
  /** Takes along what the launcher starts when this process is suspended; not there where none of its own runs jobs. */
  readonly suspension?: Suspension;
  /** Runs a job in this process and records it; a failure is in the result. */
  readonly runHere: (job: SweepJob) => Promise<JobResult>;
}

/** The setting that has the meaning of another one, or what to do instead. */
export type InsteadOf = { readonly nearest: string } | { readonly hint: string };

/** A launcher that configs can choose. A kind is data: what opens launchers only iterates. */
export interface LauncherKind {
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
  readonly retries?: (root: MapNode, context: ResolveContext) => number;
  /** Whether jobs run in this process, and print where it does. */
  readonly inThisProcess?: true;
  /** Whether jobs run on other machines: what depends on the machine is then checked there. */
  readonly runsElsewhere?: boolean;
  /** @throws ConfigError for settings that it cannot follow */
  readonly open: (request: LauncherRequest) => Launcher;
  /**
   * The jobs of a recorded sweep in their scheduler, for a process that comes by later; undefined where
   * none were handed to it. Not there for a launcher without a scheduler.
   * @param folder the absolute path of the `.sweep` folder
   */
  readonly backend?: (
    folder: string,
    env: Readonly<Record<string, string | undefined>>,
  ) => Promise<SweepBackend> | undefined;
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
  readonly obstacle: string | null;
}

/**
 * What happens to scheduled jobs. `retried`: an attempt was ended early, and the job starts again.
 * `dropped`: the scheduler gave it up before it started; it has no record and is still missing. `held`: somebody has
 * to do something about jobs that wait, as the text says; null where that is over.
 */
export type ScheduledEvent =
  | { readonly kind: "started"; readonly number: number }
  | { readonly kind: "retried"; readonly number: number; readonly reason: string }
  | { readonly kind: "ended"; readonly number: number }
  | { readonly kind: "dropped"; readonly number: number; readonly reason: string }
  | {
      readonly kind: "held";
      readonly numbers: readonly number[];
      readonly obstacle: string | null;
    };

/**
 * A sweep whose jobs a scheduler runs, for any process that comes by later: `hydraconf sweep status`,
 * `wait`, `cancel`, and a launcher that resumes. All that it needs stands in the sweep's folder.
 */
export interface SweepBackend {
  /**
   * The jobs that were handed to the scheduler, as far as it still knows them.
   * @throws ConfigError where it does not answer
   */
  status(options?: QuestionOptions): Promise<readonly ScheduledJob[]>;
  /** The jobs that it may still have for all that the record says: nobody is asked. */
  handedOver(): ReadonlySet<number>;
  /**
   * Records how jobs ended that could not do it themselves and are over, for a sweep that nobody watches.
   * @returns what it does not say; undefined where it says all
   * @throws ConfigError where it does not answer; then all stays as it is
   */
  reconcile(options?: QuestionOptions): Promise<UnansweredStatus | undefined>;
  /**
   * What happens to the jobs that were handed to the scheduler, until all have ended or the signal
   * comes. A job that the scheduler lost is recorded as what became of it.
   */
  watch(options?: WatchOptions): AsyncIterable<ScheduledEvent>;
  /**
   * Ends jobs, or all; those that are over stay as they are.
   * @param onlyWaiting leaves those that run alone
   */
  cancel(options?: CancelOptions): Promise<void>;
}

export interface QuestionOptions {
  /** Gives up the question: then the scheduler has not answered. */
  readonly signal?: AbortSignal;
}

/** A scheduler that says how jobs stand, and of some does not. */
export interface UnansweredStatus {
  readonly problem: string;
  /** The numbers of these jobs, of which nobody knows whether they are over. */
  readonly jobs: ReadonlySet<number>;
}

export interface WatchOptions {
  /** Only these jobs. */
  readonly numbers?: ReadonlySet<number>;
  readonly signal?: AbortSignal;
}

export interface CancelOptions {
  readonly numbers?: ReadonlySet<number>;
  readonly onlyWaiting?: boolean;
}
