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
  settle(options?: QuestionOptions): Promise<Silence | undefined>;
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
export interface Silence {
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
