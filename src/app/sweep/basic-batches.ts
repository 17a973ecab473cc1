import {
  elementToString,
  isEndless,
  isSweep,
  type Override,
  overrideKeyElement,
  type SweepOptions,
  sweepStrings,
} from "../../overrides/index.ts";
import { ConfigError } from "../../values/errors.ts";
import type { JobOverrides } from "./sweeper.ts";

export interface BatchesRequest {
  /** `hydra.sweeper.params` first, then what the command line says. */
  readonly overrides: readonly Override[];
  /** `hydra.sweeper.max_batch_size`; null for one batch of everything. */
  readonly maxBatchSize: number | null;
  readonly options?: SweepOptions;
}

/**
 * Every combination of the values of all sweeps, the last one changing fastest, in batches. A key
 * that comes again keeps its place and takes the new values.
 *
 * @throws ConfigError `override.sweep_not_allowed` for an interval, `override.function` for what
 * has no values to enumerate, `value.wrong_type` for a batch size below 1
 */
export function basicBatches(request: BatchesRequest): readonly (readonly JobOverrides[])[] {
  const { maxBatchSize, options, overrides } = request;
  const choices = new Map<string, readonly string[]>();
  for (const override of overrides)
    choices.set(overrideKeyElement(override), valuesOf(override, options));
  const jobs = product([...choices.values()]);
  if (maxBatchSize === null) return [jobs];
  if (maxBatchSize < 1)
    throw new ConfigError({
      code: "value.wrong_type",
      message: `hydra.sweeper.max_batch_size must be at least 1, not ${maxBatchSize}`,
      key: "hydra.sweeper.max_batch_size",
    });
  return chunks(jobs, maxBatchSize);
}

/** The overrides that stand for one of the sweep's. */
function valuesOf(override: Override, options: SweepOptions | undefined): readonly string[] {
  const key = overrideKeyElement(override);
  if (!isSweep(override)) return [`${key}=${elementToString(override.value)}`];
  if (override.value.kind === "interval" || isEndless(override))
    throw new ConfigError({
      code: "override.sweep_not_allowed",
      message:
        override.value.kind === "interval"
          ? "BasicSweeper does not support sweep type : INTERVAL_SWEEP"
          : `The sweep '${override.origin.text}' never ends`,
      origin: override.origin,
      key: override.keyOrGroup,
      hint: "sweep over a choice or a range that ends",
    });
  return [...sweepStrings(override, options)].map((value) => `${key}=${value}`);
}

function product(lists: readonly (readonly string[])[]): readonly JobOverrides[] {
  return lists.reduce<readonly JobOverrides[]>(
    (jobs, values) => jobs.flatMap((job) => values.map((value) => [...job, value])),
    [[]],
  );
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
