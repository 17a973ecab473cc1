/**
 * A region's place under the roofline of its machine: arithmetic intensity and achieved FLOP/s for each
 * precision, from the metrics that Nsight Compute's `roofline` set or `ncu.default` collects. Uses the formulas of
 * Nsight Compute's own roofline sections (a fused multiply-add is two operations; traffic is DRAM traffic).
 */
import type { MetricValue, NCUProfileRegion } from "../model/document.ts";

export type Precision = "half" | "single" | "double";

export interface RooflinePoint {
  readonly precision: Precision;
  /** FLOP per byte of DRAM traffic. */
  readonly intensity: number;
  /** FLOP per second. */
  readonly flops: number;
}

export interface RooflineCeiling {
  readonly precision: Precision;
  /** FLOP per second at the measured clock rate. */
  readonly flops: number;
}

export interface Ceilings {
  /** DRAM bytes per second at the measured clock rate; null without the metrics. */
  readonly bytesPerSecond: number | null;
  readonly compute: readonly RooflineCeiling[];
}

type Metrics = NCUProfileRegion["metrics"];

/** The letters in the names of instructions. */
const LETTERS: Readonly<Record<Precision, string>> = { half: "h", single: "f", double: "d" };
const PRECISIONS = ["half", "single", "double"] as const;

/** One point per precision with any arithmetic; empty without the metrics. */
export function rooflinePoints({ metrics }: NCUProfileRegion): readonly RooflinePoint[] {
  const bytes = bytesPerSecond(metrics);
  if (bytes === null || bytes === 0) return [];
  return PRECISIONS.flatMap((precision) => {
    const flops = flopsPerSecond(metrics, precision);
    if (flops === null || flops === 0) return [];
    return [{ precision, intensity: flops / bytes, flops }];
  });
}

/** The highest ceilings of any of the regions' kernels. */
export function rooflineCeilings(regions: readonly NCUProfileRegion[]): Ceilings {
  // There can be more regions than a call accepts arguments.
  const highest = (measure: (metrics: Metrics) => number | null): number | null =>
    regions.reduce<number | null>((most, { metrics }) => {
      const value = measure(metrics);
      return value === null ? most : Math.max(most ?? value, value);
    }, null);
  return {
    bytesPerSecond: highest(peakBytes),
    compute: PRECISIONS.flatMap((precision) => {
      const flops = highest((metrics) => peakFlops(metrics, precision));
      return flops === null || flops === 0 ? [] : [{ precision, flops }];
    }),
  };
}

function bytesPerSecond(metrics: Metrics): number | null {
  const direct = read(metrics, "dram__bytes.sum.per_second");
  if (direct !== null) return direct;
  const bytes =
    read(metrics, "dram__bytes.sum") ??
    sum(read(metrics, "dram__bytes_read.sum"), read(metrics, "dram__bytes_write.sum")) ??
    // GB20x.
    sum(read(metrics, "dram__bytes_op_read.sum"), read(metrics, "dram__bytes_op_write.sum"));
  return perSecond(bytes, metrics);
}

function flopsPerSecond(metrics: Metrics, precision: Precision): number | null {
  for (const unit of ["smsp", "sm"]) {
    const name = (operation: string, suffix: string) =>
      `${unit}__sass_thread_inst_executed_op_${LETTERS[precision]}${operation}_pred_on.sum${suffix}`;
    const operations = (suffix: string): number | null => {
      const [add, multiply, fused] = ["add", "mul", "fma"].map((operation) =>
        read(metrics, name(operation, suffix)),
      );
      return sum(sum(add ?? null, multiply ?? null), fused == null ? null : 2 * fused);
    };
    const clock = read(metrics, `${unit}__cycles_elapsed.avg.per_second`);
    const perCycle = operations(".per_cycle_elapsed");
    if (perCycle !== null && clock !== null) return perCycle * clock;
    const counted = perSecond(operations(""), metrics);
    if (counted !== null) return counted;
  }
  return null;
}

function peakFlops(metrics: Metrics, precision: Precision): number | null {
  const fused = `sm__sass_thread_inst_executed_op_${LETTERS[precision]}fma_pred_on`;
  const perCycle = read(metrics, `${fused}.sum.peak_sustained`);
  const clock = read(metrics, "sm__cycles_elapsed.avg.per_second");
  return perCycle === null || clock === null ? null : 2 * perCycle * clock;
}

function peakBytes(metrics: Metrics): number | null {
  const perCycle = read(metrics, "dram__bytes.sum.peak_sustained");
  const clock = read(metrics, "dram__cycles_elapsed.avg.per_second");
  return perCycle === null || clock === null ? null : perCycle * clock;
}

/** Durations are stored in nanoseconds. */
function perSecond(count: number | null, metrics: Metrics): number | null {
  const duration = metrics["gpu__time_duration.sum"];
  if (count === null || duration?.value == null || duration.value <= 0) return null;
  const seconds = SECONDS_PER[duration.unit];
  return seconds === undefined ? null : count / (duration.value * seconds);
}

const SECONDS_PER: Readonly<Record<string, number>> = {
  ns: 1e-9,
  nsecond: 1e-9,
  us: 1e-6,
  usecond: 1e-6,
  ms: 1e-3,
  msecond: 1e-3,
  s: 1,
  second: 1,
};

/** Whether a metric of this unit is a duration, as tools and programs write it. */
export const isTimeUnit = (unit: string): boolean => Object.hasOwn(SECONDS_PER, unit);

const read = (metrics: Metrics, name: string): number | null => {
  const found: MetricValue | undefined = metrics[name];
  return found?.value ?? null;
};

/** The sum of the known values; null if there are none. */
const sum = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : a + b;
