/** The uncertainty of a region's times, from the spread of its calls. */
import type {
  InvocationStatistics,
  KernelRepeats,
  NCUProfileRegion,
  RegionRepeats,
  RepeatStatistics,
} from "../model/document.ts";
import type { RepeatedNumber } from "../view/region-columns.ts";
import type { Measured } from "./change.ts";

/** Quantiles of the standard normal distribution: 95 % lie within ±1.96, and 95 % below 1.645. */
const TWO_SIDED = 1.96;
const ONE_SIDED = 1.645;

/**
 * Wall time of a region. Its calls are taken as independent: the sum of `n` calls with standard
 * deviation σ is known to ±1.96 σ √n. The report holds no σ; the distance from the median to the
 * 95th percentile gives one that a few slow calls do not spoil, and for few calls, where that
 * percentile is the maximum, the range of the calls bounds it from above.
 */
export function measuredWall(
  region: NCUProfileRegion,
  ms: number | null,
  name: "wall_ms" | "wall_exclusive_ms" = "wall_ms",
): Measured | null {
  const repeated = overRuns(region.repeats, name, ms === region.wall_ms ? "wall_ms" : name);
  if (repeated !== null || ms === null) return repeated;
  const spread = callSpread(region);
  return {
    value: ms,
    uncertainty: spread === null ? null : TWO_SIDED * spread * Math.sqrt(region.invocations),
  };
}

/** Processor time of a region, whose uncertainty follows from that of its calls. */
export function measuredCpu(
  region: NCUProfileRegion,
  ms: number | null,
  name: "cpu_ms" | "cpu_exclusive_ms" = "cpu_ms",
): Measured | null {
  const { invocations, repeats } = region;
  const repeated = overRuns(repeats, name, ms === region.cpu_ms ? "cpu_ms" : name);
  if (repeated !== null || ms === null) return repeated;
  const spread = spreadOf(region.invocation_cpu_ms ?? null, invocations);
  return {
    value: ms,
    uncertainty: spread === null ? null : TWO_SIDED * spread * Math.sqrt(invocations),
  };
}

/** Instructions of a region, which hardly vary: without repeated runs, nothing is known of how much. */
export function measuredInstructions(
  { instructions, repeats }: NCUProfileRegion,
  count: number | null,
  name: "instructions" | "instructions_exclusive" = "instructions",
): Measured | null {
  const whole = count === instructions ? "instructions" : name;
  return overRuns(repeats, name, whole) ?? measuredAlone(count);
}

/** The median of the calls' wall times: its standard error is 1.25 times that of the mean. */
export function measuredMedian(region: NCUProfileRegion): Measured | null {
  const { invocation_wall_ms: calls, invocations } = region;
  if (calls === null) return null;
  const spread = callSpread(region);
  return {
    value: calls.median,
    uncertainty: spread === null ? null : (1.25 * TWO_SIDED * spread) / Math.sqrt(invocations),
  };
}

/**
 * Time of kernels or operations in a region. CPU operations vary as the calls around them. The variation of GPU kernels
 * between calls is not part of a report.
 */
export function measuredWork(
  region: NCUProfileRegion,
  ms: number | null,
  name: "total_ms" | "exclusive_ms" = "total_ms",
): Measured | null {
  const repeated = overRuns(region.repeats, name, ms === region.total_ms ? "total_ms" : name);
  if (repeated !== null || ms === null) return repeated;
  const onCpu = region.kernels.every(({ kind }) => kind === "cpu_operation");
  const wall = measuredWall(region, region.wall_ms);
  if (!onCpu || wall === null || wall.uncertainty === null || wall.value === 0)
    return { value: ms, uncertainty: null };
  return { value: ms, uncertainty: wall.uncertainty * (ms / wall.value) };
}

/**
 * The mean of repeated runs, which is the most reliable result; null where they do not tell. The time of one run is no
 * substitute: beside means, it would differ by what runs differ.
 *
 * @param otherwise for reports before 1.6, which have no exclusive numbers: the inclusive one if both are equal
 */
export function overRuns(
  repeats: RegionRepeats | undefined,
  name: RepeatedNumber,
  otherwise = name,
): Measured | null {
  const statistics = repeats?.[name] === undefined ? repeats?.[otherwise] : repeats[name];
  return statistics == null || repeats === undefined ? null : meanOf(statistics, repeats.runs);
}

const meanOf = ({ mean, ci95_low, ci95_high }: RepeatStatistics, runs: number): Measured => ({
  value: mean,
  // The interval of two runs is 12.7 times as wide as their difference, and therefore meaningless.
  ...(runs < LEAST_RUNS
    ? { uncertainty: null }
    : { uncertainty: (ci95_high - ci95_low) / 2, freedom: runs - 1 }),
});

/** How the times of kernels vary over the runs of a region, or over all runs. */
export interface KernelSpread {
  readonly runs: number;
  /** By kernel. */
  readonly times: ReadonlyMap<string, KernelRepeats>;
}

/** Time of a kernel, which only repeated runs can judge. */
export function measuredKernel(
  ms: number | null,
  { runs, times }: KernelSpread,
  key: string,
): Measured | null {
  const repeats = times.get(key);
  return repeats === undefined ? measuredAlone(ms) : meanOf(repeats.total_ms, runs);
}

/** The least number of runs that shows how runs vary. */
const LEAST_RUNS = 3;

/** A part of a whole: its value in one run, and its uncertainty over repeated runs. */
export interface Part {
  readonly ms: number | null;
  readonly measured: Measured | null;
}

/**
 * The total of several regions, assuming that each varies independently. If repeated runs shift the parts to their
 * means, the whole is shifted by the same amount: it need not be the sum of the parts, since threads overlap.
 */
export function measuredTogether(whole: number | null, parts: readonly Part[]): Measured | null {
  if (whole === null) return null;
  const measuredParts = parts.flatMap(({ measured, ms }) =>
    measured === null || ms === null ? [] : [{ measured, ms }],
  );
  const ofOneRun = sum(measuredParts.map(({ ms }) => ms));
  const ofAll = sum(measuredParts.map(({ measured }) => measured.value));
  const value = ofOneRun === 0 ? whole : whole * (ofAll / ofOneRun);
  const freedom = measuredParts.reduce(
    (least, { measured }) => Math.min(least, measured.freedom ?? 0),
    Number.POSITIVE_INFINITY,
  );
  return {
    value,
    uncertainty: uncertaintyTogether(measuredParts.map(({ measured }) => measured)),
    ...(freedom > 0 && measuredParts.length > 0 && { freedom }),
  };
}

/** Null if one of them is unknown, or if there are none. */
function uncertaintyTogether(all: readonly Measured[]): number | null {
  let squares = 0;
  for (const { uncertainty } of all) {
    if (uncertainty === null) return null;
    squares += uncertainty ** 2;
  }
  return all.length === 0 ? null : Math.sqrt(squares);
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** A value of unknown spread. */
export const measuredAlone = (value: number | null): Measured | null =>
  value === null ? null : { value, uncertainty: null };

/** Standard deviation of one call in ms; null for a single call. */
const callSpread = ({ invocations, invocation_wall_ms }: NCUProfileRegion): number | null =>
  spreadOf(invocation_wall_ms, invocations);

function spreadOf(calls: InvocationStatistics | null, invocations: number): number | null {
  if (calls === null || invocations < 2) return null;
  return Math.min((calls.p95 - calls.median) / ONE_SIDED, (calls.max - calls.min) / 2);
}
