/** The learning curves of a job, of which schemas/sweep-curves.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * A line of `sweep-curves.jsonl`: the learning curves of a job of a sweep. A minor version only adds.
 */
export interface JobCurves {
  /**
   * Version of this contract.
   */
  readonly contract: "hydraconf.sweep-curves/1.0";
  /**
   * The number of the job in the sweep, from 0.
   */
  readonly job: number;
  /**
   * In the order in which the job reported the metrics first.
   */
  readonly curves: readonly LearningCurve[];
}
/**
 * The finite values of a metric, step by step. Of long curves some steps are kept, evenly chosen, with the first and the last.
 */
export interface LearningCurve {
  /**
   * Its name; parts of nested metrics are joined by dots: `val.loss`.
   */
  readonly metric: string;
  /**
   * The `step` of each value or, without one, the number of its line. In the order of the lines.
   */
  readonly steps: readonly number[];
  /**
   * As many as there are steps.
   */
  readonly values: readonly number[];
}
