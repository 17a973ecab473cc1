/** How much runs of one program differ, of which schemas/calibration.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * waiting: processor time varies much less than wall time. speed: both vary, and the program does the same work, as far as its instructions were counted. work: its instructions vary as well.
 */
export type NoiseSource = "waiting" | "speed" | "work";

/**
 * What `deep-profile calibrate` writes: how much runs of one program differ on one machine. Times are milliseconds. A minor version only adds.
 */
export interface Calibration {
  /**
   * Version of this contract.
   */
  readonly contract: "hydraconf.calibration/1.0";
  /**
   * ISO 8601 in UTC.
   */
  readonly created_at: string;
  readonly machine: CalibratedMachine;
  /**
   * The program and its arguments.
   */
  readonly command: readonly string[];
  /**
   * What recorded: recorder or nsys.
   */
  readonly collector: string;
  /**
   * In their order.
   */
  readonly sessions: readonly CalibratedSession[];
  /**
   * Measured runs of each.
   */
  readonly runs_per_session: number;
  readonly instructions: CountedInstructions;
  /**
   * Of all regions together.
   */
  readonly totals: Spreads;
  /**
   * Regions that every run has.
   */
  readonly regions: readonly CalibratedRegion[];
}
/**
 * Where the program ran; compare takes the calibration for runs of the same host name and processor.
 */
export interface CalibratedMachine {
  readonly hostname: string;
  readonly cpu: string;
  readonly os: string;
}
/**
 * Runs that followed each other.
 */
export interface CalibratedSession {
  /**
   * ISO 8601 in UTC.
   */
  readonly started_at: string;
  /**
   * Over a minute; null where the system does not tell.
   */
  readonly load_average: number | null;
}
/**
 * Instructions of the whole program in user mode, which do not depend on the machine's load.
 */
export interface CountedInstructions {
  /**
   * Relative standard deviation; null where they could not be counted.
   */
  readonly spread: number | null;
  /**
   * Why they could not be counted; empty if they were.
   */
  readonly why: string;
}
/**
 * By the names of times in the region report contract.
 */
export interface Spreads {
  readonly [k: string]: Spread;
}
/**
 * How a time varies; standard deviations are of its natural logarithm, so relative.
 */
export interface Spread {
  /**
   * Of all runs.
   */
  readonly mean_ms: number;
  /**
   * Standard deviation of the runs of one session.
   */
  readonly run_spread: number;
  /**
   * Standard deviation of the means of sessions.
   */
  readonly session_spread: number;
  /**
   * Root mean square of the ratios of successive runs.
   */
  readonly pair_spread: number;
  /**
   * The smallest difference that is not noise, by the number of runs of each side.
   */
  readonly smallest_effects: readonly {
    /**
     * Of A and of B.
     */
    readonly runs: number;
    /**
     * As a share of A.
     */
    readonly relative: number;
  }[];
}
/**
 * A region, identified as in the region report contract.
 */
export interface CalibratedRegion {
  /**
   * Names from the outermost region.
   */
  readonly path: readonly string[];
  /**
   * NVTX domain; empty for the default domain.
   */
  readonly domain: string;
  /**
   * Domains of the ranges on the path; absent where all are of domain.
   */
  readonly path_domains?: readonly string[];
  /**
   * How the range was opened, or what ran outside every range.
   */
  readonly kind: "push_pop" | "start_end" | "outside";
  /**
   * Null where times vary by less than 1 % or a time is missing.
   */
  readonly noise_from: NoiseSource | null;
  /**
   * Whether sessions differ by more than their runs explain.
   */
  readonly drifts: boolean;
  readonly numbers: Spreads;
}
