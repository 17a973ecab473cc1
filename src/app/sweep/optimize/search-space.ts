import {
  type IntervalSweep,
  isSweep,
  type Override,
  overrideKeyElement,
  type PythonNumber,
  type SweepOptions,
} from "../../../overrides/index.ts";
import { ConfigError } from "../../../values/errors.ts";
import { floatRepr } from "../../../values/python-text.ts";
import { byKey, fixedPoint, type Point, pointsOf, type SizeLimit } from "../dimensions.ts";
import type { JobOverrides } from "../sweeper.ts";
import type { RandomSource } from "./random-source.ts";
import { rangeDrawer } from "./range-drawer.ts";

/** What a sweep's overrides let vary, and what they set for all jobs. */
export interface SearchSpace {
  /** Draws a point of the space. */
  draw(random: RandomSource): Draw;
}

export interface Draw {
  /** The overrides of the job, those that are the same in all jobs included. */
  readonly overrides: JobOverrides;
  /** Those of them that were drawn. */
  readonly params: JobOverrides;
}

/** As many tries as it takes to be sure that what is left of a space is not worth searching. */
const MAX_TRIES = 10_000;

/**
 * The space that overrides span: choices, ranges, globs and zips uniformly over their values,
 * intervals uniformly over their numbers, `tag(log, …)` of an interval or a range uniformly over
 * the logarithm.
 *
 * @throws ConfigError `override.sweep_not_allowed` for a sweep that cannot be drawn from
 */
export function searchSpace(
  overrides: readonly Override[],
  options: SweepOptions,
  isExcluded?: (job: JobOverrides) => boolean,
): SearchSpace {
  const dimensions = [...byKey(overrides).values()].map((override) => ({
    varies: isSweep(override),
    draw: drawerOf(override, options),
  }));
  const drawOnce = (random: RandomSource): Draw => {
    const points = dimensions.map(({ draw, varies }) => ({ varies, point: draw(random) }));
    return {
      overrides: points.flatMap(({ point }) => point),
      params: points.flatMap(({ point, varies }) => (varies ? point : [])),
    };
  };
  return {
    draw(random) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const drawn = drawOnce(random);
        if (isExcluded?.(drawn.overrides) !== true) return drawn;
      }
      throw new ConfigError({
        code: "override.sweep_not_allowed",
        message: `hydra.sweeper.exclude left none of ${MAX_TRIES} jobs that were drawn`,
        key: "hydra.sweeper.exclude",
      });
    },
  };
}

/** Of what has to be enumerated: values, of which few become jobs. */
const VALUES: SizeLimit = {
  most: 10_000_000,
  of: "values",
  hint: "draw from an interval: interval(0,1), or tag(log,interval(1e-5,1))",
};

type Drawer = (random: RandomSource) => Point;

function drawerOf(override: Override, options: SweepOptions): Drawer {
  if (!isSweep(override)) return () => fixedPoint(override);
  const { value } = override;
  const key = overrideKeyElement(override);
  if (value.kind === "interval") {
    const draw = intervalDrawer(value, override);
    return (random) => [`${key}=${draw(random)}`];
  }
  const draw =
    value.kind === "range" ? rangeDrawer(value, (what) => refuse(override, what)) : undefined;
  if (draw !== undefined) return (random) => [`${key}=${draw(random)}`];
  const points = pointsOf(override, options, VALUES);
  if (points.length === 0) refuse(override, "has no values to draw from");
  return (random) => points[Math.floor(random() * points.length)] ?? [];
}

/**
 * Floats from the start up to, but not including, the end. An interval cast to int has both ends,
 * as Hydra's optuna sweeper draws from it.
 */
function intervalDrawer(interval: IntervalSweep, override: Override): (r: RandomSource) => string {
  const isLog = interval.tags.includes("log");
  const [start, end] = [Number(interval.start), Number(interval.end)];
  if (!Number.isFinite(start) || !Number.isFinite(end)) refuse(override, "is not finite");
  if (isLog && start <= 0) refuse(override, "is tagged 'log' but has values that are not above 0");
  if (isInt(interval.start) && isInt(interval.end)) {
    if (start > end) refuse(override, "ends before it starts");
    return (random) => {
      const value = isLog
        ? Math.round(logUniform(start - 0.5, end + 0.5, random()))
        : start + Math.floor(random() * (end - start + 1));
      return String(BigInt(clamp(value, start, end)));
    };
  }
  if (start >= end) refuse(override, "ends before it starts");
  return (random) => {
    const share = random();
    const value = isLog ? logUniform(start, end, share) : start * (1 - share) + end * share;
    // Rounding may reach the end, which does not belong to it.
    return floatRepr(value >= end ? start : clamp(value, start, end));
  };
}

const isInt = (value: PythonNumber): boolean => typeof value !== "number";

const logUniform = (start: number, end: number, share: number): number =>
  Math.exp(Math.log(start) * (1 - share) + Math.log(end) * share);

const clamp = (value: number, low: number, high: number): number =>
  Math.min(Math.max(value, low), high);

function refuse({ keyOrGroup, origin }: Override, problem: string): never {
  throw new ConfigError({
    code: "override.sweep_not_allowed",
    message: `The sweep '${origin.text}' ${problem}`,
    origin,
    key: keyOrGroup,
  });
}
