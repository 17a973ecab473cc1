/**
 * The use of the GPU and the sharing of work between ranks, before and after, as rows for readers: only changes. No
 * direction is a fault by itself, so no row is called slower.
 */

import { printableLabel } from "../../foundation/text/printable.ts";
import { formatMs, formatNumber, formatShare, NOT_MEASURED } from "../../pages/numbers.ts";
import { COMPARED_ACTIVITY } from "../model/compared-numbers.ts";
import { kindMarks, pathWords } from "../model/region-path.ts";
import { BUSY_HEADING } from "../view/gpu-utilization.ts";
import { OCCUPANCY_LIMIT, occupancyLimitText } from "../view/kernel-tables.ts";
import { isNotable } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import type { Change, Changes, KernelChange, KernelLimits } from "./comparison-types.ts";

/** A number or a text in both reports. */
export interface GpuFact {
  readonly name: string;
  readonly a: string;
  readonly b: string;
  /** The change with its sign; empty for texts. */
  readonly change: string;
}

/** A region or kernel and its changed facts. */
export interface GpuFacts {
  /** The label, safe to print. */
  readonly label: string;
  readonly facts: readonly GpuFact[];
}

export const ACTIVITY_HEADING = "GPU in regions";
export const RANKS_HEADING = "Ranks";
export const COUNTERS_HEADING = "Kernel counters";

/** Regions whose use of the GPU changed, the largest difference first. */
export const activityFacts = (reports: ReportComparison): readonly GpuFacts[] =>
  regionFacts(reports, ACTIVITY, PARTS);

/** Regions whose distribution over the ranks of a parallel program changed, the largest difference first. */
export const rankFacts = ({ regions, ...reports }: ReportComparison): readonly GpuFacts[] =>
  // Ranks share no time outside their ranges.
  regionFacts({ ...reports, regions: regions.filter(({ kind }) => kind !== "outside") }, RANKS, [
    "rank_max_ms",
    "waiting_ms",
  ]);

/** @param parts the numbers that determine the largest difference */
function regionFacts(
  { regions }: ReportComparison,
  wanted: readonly Wanted[],
  parts: readonly string[],
): readonly GpuFacts[] {
  const kindOf = kindMarks(regions);
  return regions
    .flatMap((region) => {
      const facts = wanted.flatMap(([key, name, format]) =>
        factOf(name, region.changes[key], format),
      );
      const ms = largestDifference(region.changes, parts);
      return facts.length === 0 ? [] : [{ region, facts, ms }];
    })
    .sort((x, y) => y.ms - x.ms)
    .map(({ region, facts }) => ({
      label: `${pathWords(region, (text) => printableLabel(text))}${kindOf(region)}`,
      facts,
    }));
}

const largestDifference = (changes: Changes, parts: readonly string[]): number =>
  Math.max(...parts.map((name) => Math.abs(changes[name]?.delta ?? 0)));

/** Kernels whose counters differ, in the order of the comparison. */
export const counterFacts = ({ kernels }: ReportComparison): readonly GpuFacts[] =>
  kernels.flatMap((kernel) => {
    const facts = kernelFacts(kernel);
    return facts.length === 0 ? [] : [{ label: printableLabel(kernel.kernel_name, 160), facts }];
  });

type Format = (value: number | null) => string;

const percent: Format = (value) => formatShare(value, 100);

type Wanted = readonly [key: string, name: string, format: Format];

const ratio: Format = (value) => formatNumber(value === null ? null : Number(value.toFixed(2)));

const RANKS: readonly Wanted[] = [
  ["imbalance", "Imbalance", ratio],
  ["rank_max_ms", "Slowest rank ms", formatMs],
  ["waiting_ms", "Waiting ms, all ranks", formatMs],
];

const ACTIVITY: readonly Wanted[] = [
  ["gpu_busy_pct", BUSY_HEADING, percent],
  ["gpu_kernel_ms", "Kernels ms", formatMs],
  ["gpu_copy_ms", "Copies, sets ms", formatMs],
  ["gpu_overlap_ms", "Both ms", formatMs],
];
const PARTS = Object.keys(COMPARED_ACTIVITY);

function kernelFacts({ presence, changes, limits }: KernelChange): readonly GpuFact[] {
  if (presence !== "both") return [];
  return [
    ...factOf("SM %", changes["sm_pct"], percent),
    ...factOf("Mem %", changes["memory_pct"], percent),
    ...limitFacts(changes, limits?.a?.limited_by ?? null, limits?.b?.limited_by ?? null),
    ...factOf("Tensor %", changes["tensor_pct"], percent),
    ...factOf("Occ %", changes["occupancy_pct"], percent),
    ...occupancyLimitFacts(changes["occupancy_limit_pct"], limits?.a ?? null, limits?.b ?? null),
  ];
}

/** Shares that changed insignificantly may lie on two sides of a threshold: that is no new limit. */
function limitFacts(changes: Changes, a: string | null, b: string | null): readonly GpuFact[] {
  const isOther = [changes["sm_pct"], changes["memory_pct"]].some(isChanged);
  return isOther && a !== null && b !== null && a !== b
    ? [{ name: "Limited by", a, b, change: "" }]
    : [];
}

function occupancyLimitFacts(
  change: Change | undefined,
  a: KernelLimits | null,
  b: KernelLimits | null,
): readonly GpuFact[] {
  const [before, after] = [textOfLimit(change?.a, a), textOfLimit(change?.b, b)];
  if (change === undefined || before === null || after === null || before === after) return [];
  const isOther = a?.occupancy_limited_by.join() !== b?.occupancy_limited_by.join();
  if (!isChanged(change) && !isOther) return [];
  return [{ name: OCCUPANCY_LIMIT, a: before, b: after, change: difference(change, percent) }];
}

const textOfLimit = (
  occupancy_limit_pct: number | null | undefined,
  limits: KernelLimits | null,
): string | null =>
  limits === null
    ? null
    : occupancyLimitText({ ...limits, occupancy_limit_pct: occupancy_limit_pct ?? null });

const factOf = (name: string, change: Change | undefined, format: Format): readonly GpuFact[] =>
  change !== undefined && isChanged(change)
    ? [{ name, a: format(change.a), b: format(change.b), change: difference(change, format) }]
    : [];

/** A number that only one report has is a difference between the collectors. */
const isChanged = (change: Change | undefined): boolean =>
  change !== undefined && isNotable(change);

function difference({ delta }: Change, format: Format): string {
  if (delta === null || delta === 0) return "";
  const size = format(Math.abs(delta));
  return size === NOT_MEASURED ? "" : `${delta > 0 ? "+" : "-"}${size}`;
}
