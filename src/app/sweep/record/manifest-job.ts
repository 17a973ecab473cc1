import { count, maybe, oneOf, type Shape, text, texts } from "../../../system/shape.ts";

/** What a job of a sweep is. Keys are those of the file. */
export interface ManifestJob {
  readonly number: number;
  /** All overrides that the job is composed with. */
  readonly overrides: readonly string[];
  /** Those that make it different from other jobs, for people. */
  readonly task_overrides: readonly string[];
  /** Absolute. */
  readonly output_dir: string;
  /** Fingerprint of the job's composed config, interpolations as written. */
  readonly fingerprint: string;
  /**
   * Whether the sweep that went on has no such job any more: a search asked for others once it was told other
   * results. Its record stays, it never runs, and the sweep does not fail because of it.
   */
  readonly left_out?: true;
}

export const JOB: Shape<ManifestJob> = {
  number: count,
  overrides: texts,
  task_overrides: texts,
  output_dir: text,
  fingerprint: text,
  left_out: maybe(oneOf(true)),
};
