import type { Override, SweepOptions } from "../../overrides/index.ts";
import { plural } from "../../text/plural.ts";
import { ConfigError } from "../../values/errors.ts";
import { byKey, pointsOf, product } from "./dimensions.ts";
import type { JobOverrides } from "./sweeper.ts";

export interface BatchesRequest {
  /** `hydra.sweeper.params` first, then what the command line says. */
  readonly overrides: readonly Override[];
  /** `hydra.sweeper.max_batch_size`; null for one batch of everything. */
  readonly maxBatchSize: number | null;
  /** Whether a combination is left out. */
  readonly isExcluded?: (job: JobOverrides) => boolean;
  readonly options?: SweepOptions;
}

/**
 * Every combination of the values of all sweeps, the last one changing fastest, in batches. A key
 * that comes again keeps its place and takes the new values.
 *
 * @throws ConfigError `override.sweep_not_allowed` for an interval and where every combination is
 * excluded, `override.function` for what has no values to enumerate, `value.wrong_type` for a batch
 * size below 1
 */
export function basicBatches(request: BatchesRequest): readonly (readonly JobOverrides[])[] {
  const { isExcluded, maxBatchSize, options, overrides } = request;
  // One that a later override of its key replaces must be a sweep of ours all the same.
  const points = new Map(overrides.map((one) => [one, pointsOf(one, options)]));
  const all = product([...byKey(overrides).values()].map((one) => points.get(one) ?? []));
  const jobs = isExcluded === undefined ? all : all.filter((job) => !isExcluded(job));
  if (jobs.length === 0 && all.length > 0)
    throw new ConfigError({
      code: "override.sweep_not_allowed",
      message: `hydra.sweeper.exclude leaves none of ${plural(all.length, "job")}`,
      key: "hydra.sweeper.exclude",
    });
  if (maxBatchSize === null) return [jobs];
  if (maxBatchSize < 1)
    throw new ConfigError({
      code: "value.wrong_type",
      message: `hydra.sweeper.max_batch_size must be at least 1, not ${maxBatchSize}`,
      key: "hydra.sweeper.max_batch_size",
    });
  return chunks(jobs, maxBatchSize);
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
