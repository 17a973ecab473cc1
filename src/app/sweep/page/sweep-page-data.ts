/** The data of a page of sweeps, which its script reads: no Node modules here, nor types that need them. */

/** The word for a completed or pruned job that its sweep no longer asks for: it does not count. */
export const LEFT_OUT = "left_out";

/** Whether lower or higher numbers are better. */
export type BetterWhen = "minimize" | "maximize";

export interface PageObjective {
  readonly column: string;
  readonly direction: BetterWhen;
}

/** Paths relative to the page; empty where there is no such file. */
export interface PageLinks {
  readonly files: string;
  readonly log: string;
  readonly report: string;
}

/** All members of the same length have an entry for each job. */
export interface SweepPageData {
  readonly sweeps: readonly string[];
  readonly judgement: readonly PageObjective[];
  /** Keys that have the same value in all jobs: `key=value`. */
  readonly constants: readonly string[];
  readonly parameters: readonly PageColumn[];
  readonly results: readonly PageColumn[];
  /** Texts, which others give by their index. */
  readonly texts: readonly string[];
  /** The index of the job's sweep; absent for a single sweep. */
  readonly sweep?: readonly number[];
  readonly number: readonly number[];
  /** `left_out` for a completed or pruned job that does not count. */
  readonly status: readonly string[];
  readonly attempts: readonly number[];
  /** Null if unknown. */
  readonly seconds: readonly (number | null)[];
  /** Milliseconds since 1970; null if the job has not started. */
  readonly started: readonly (number | null)[];
  /** The number of the earlier job that a job continues, -1 for none; absent if none does. */
  readonly continues?: readonly number[];
  /** Indices of texts; -1 for none. */
  readonly error: readonly number[];
  readonly links: Readonly<Record<keyof PageLinks, readonly number[]>> | null;
  /** What some of the jobs measured while they ran. */
  readonly curves: readonly PageCurve[];
  /** What the page leaves out, a sentence each. */
  readonly left: readonly string[];
  /** Whether the data change while the page is open; absent in a file. */
  readonly isLive?: true;
}

/** A metric of a job, step by step. */
export interface PageCurve {
  readonly row: number;
  readonly title: string;
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

export interface PageColumn {
  readonly title: string;
  /** Numbers; null where a job has none. */
  readonly numbers?: readonly (number | null)[];
  /** Of a column of texts: an index for each job, -1 for none; of a column of numbers, by row: those that are none, as NaN. */
  readonly words?: readonly number[] | Readonly<Record<number, number>>;
}
