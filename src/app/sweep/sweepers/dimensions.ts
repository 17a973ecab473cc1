/** The dimensions of a sweep: for each key the values that it may take. */
import {
  columnsOf,
  elementToString,
  isEndless,
  isSweep,
  leastValues,
  type Override,
  overrideKeyElement,
  type SweepOptions,
  sweepOverrides,
} from "../../../engine/overrides/index.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import { grouped } from "../../../foundation/text/plural.ts";
import type { JobOverrides } from "./sweeper.ts";

/** The contribution of one sweep override to a job: one override, or those of a zip's keys. */
export type Point = readonly string[];

/**
 * The overrides of a sweep by key. A repeated key keeps its place and takes the new values; a zip is identified by its
 * own name.
 *
 * @throws ConfigError `override.sweep_not_allowed` for a key of a zip that another override sets
 */
export function byKey(overrides: readonly Override[]): ReadonlyMap<string, Override> {
  const last = new Map<string, Override>();
  for (const override of overrides) last.set(overrideKeyElement(override), override);
  const setBy = new Map<string, Override>();
  for (const override of last.values())
    for (const key of keysOf(override)) {
      const other = setBy.get(key);
      if (other !== undefined && (isZip(other) || isZip(override)))
        throw new ConfigError({
          code: "override.sweep_not_allowed",
          message: `Two overrides set '${key}': '${other.origin.text}' and '${override.origin.text}'`,
          origin: override.origin,
          key,
          hint: "a key of a zip takes its values only from the zip",
        });
      setBy.set(key, override);
    }
  return last;
}

const isZip = ({ value }: Override): boolean => columnsOf(value).length > 0;

/** The keys and groups that an override sets, without operators. */
export function keysOf(override: Override): readonly string[] {
  const columns = columnsOf(override.value);
  return columns.length > 0
    ? [...new Set(columns.flatMap(keysOf))]
    : [bareKey(overrideKeyElement(override))];
}

/** Without the operator: `db` for `+db`, `~db` and the `db:` of `db:={a:1}`. */
export const bareKey = (key: string): string => key.replace(/^[+~]+|:$/g, "");

/** A limit on values in memory, with a hint for larger sweeps. */
export interface SizeLimit {
  readonly most: number;
  readonly unit: "jobs" | "values";
  readonly hint: string;
}

/** More jobs fit in no memory and run on no machine: some number is wrong. */
const JOBS: SizeLimit = {
  most: 1_000_000,
  unit: "jobs",
  hint: "sweep over fewer values, or draw from them with hydra/sweeper=random",
};

/**
 * All values that an override may contribute.
 *
 * @throws ConfigError `override.sweep_not_allowed` for an interval and for more values than the limit,
 * `override.function` for values that cannot be enumerated
 */
export function pointsOf(
  override: Override,
  options: SweepOptions | undefined,
  limit: SizeLimit = JOBS,
): readonly Point[] {
  if (!isSweep(override)) return [fixedPoint(override)];
  if (override.value.kind === "interval" || isEndless(override))
    throw new ConfigError({
      code: "override.sweep_not_allowed",
      message:
        override.value.kind === "interval"
          ? "BasicSweeper does not support sweep type : INTERVAL_SWEEP"
          : `The sweep '${override.origin.text}' never ends`,
      origin: override.origin,
      key: override.keyOrGroup,
      hint:
        override.value.kind === "interval"
          ? "sweep over a choice or a range, or draw from it with hydra/sweeper=random"
          : "sweep over a choice or a range that ends",
    });
  if (leastValues(override) > limit.most) throw tooMany(limit, override);
  return [...sweepOverrides(override, options)];
}

const tooMany = ({ most, unit, hint }: SizeLimit, override?: Override): ConfigError =>
  new ConfigError({
    code: "override.sweep_not_allowed",
    message: `The sweep${override === undefined ? "" : ` '${override.origin.text}'`} has more than ${grouped(String(most))} ${unit}`,
    origin: override?.origin,
    key: override?.keyOrGroup,
    hint,
  });

/** The contribution of an ordinary override to every job. */
export const fixedPoint = (override: Override): Point => [
  `${overrideKeyElement(override)}=${elementToString(override.value)}`,
];

/**
 * Every combination, the last dimension changing fastest.
 *
 * @throws ConfigError `override.sweep_not_allowed` for more combinations than fit in memory
 */
export function product(dimensions: readonly (readonly Point[])[]): readonly JobOverrides[] {
  const size = dimensions.reduce((jobs, { length }) => jobs * length, 1);
  if (size > JOBS.most) throw tooMany(JOBS);
  // Without this, the dimensions before an empty one would be combined for nothing, and there may be too many
  // combinations.
  if (size === 0) return [];
  return dimensions.reduce<readonly JobOverrides[]>(
    (jobs, points) => jobs.flatMap((job) => points.map((point) => [...job, ...point])),
    [[]],
  );
}

/** The error for a space whose exclusions leave too little to draw from. */
export const allExcluded = (tries: number): ConfigError =>
  new ConfigError({
    code: "override.sweep_not_allowed",
    message: `hydra.sweeper.exclude left none of ${tries} jobs that were drawn`,
    key: "hydra.sweeper.exclude",
  });
