/**
 * Kernels of two reports, matched by name and kind, the largest difference first; and the other facts about GPUs that
 * both reports have.
 */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import {
  COMPARED_ACTIVITY,
  COMPARED_BUSY_SHARE,
  COMPARED_COUNTERS,
  COMPARED_LIMIT,
} from "../model/compared-numbers.ts";
import type {
  KernelHardware,
  KernelRecord,
  KernelRepeats,
  NCUProfileRegion,
  NCUProfileRegionReport,
} from "../model/document.ts";
import { outermost } from "../model/region-path.ts";
import { busyShare } from "../view/gpu-utilization.ts";
import { mergeHardware } from "../view/kernel-hardware.ts";
import { kernelsOfReport } from "../view/kernel-list.ts";
import { kernelMs } from "../view/times.ts";
import { changeOf, changesAs, countChange, partChange, presenceOf, timeChange } from "./change.ts";
import type {
  Change,
  Changes,
  KernelChange,
  KernelLimits,
  KernelPair,
  Presence,
} from "./comparison-types.ts";
import { type KernelSpread, measuredAlone, measuredKernel, measuredTogether } from "./noise.ts";
import type { CoverageOfBoth } from "./selection-coverage.ts";

export type BothReports = Readonly<Record<"a" | "b", NCUProfileRegionReport>>;

export type SpreadOfBoth = Readonly<Record<"a" | "b", KernelSpread>>;

const NO_SPREAD: KernelSpread = { runs: 1, times: new Map() };

const spreadOf = (kernels: readonly KernelRepeats[], runs: number): KernelSpread => ({
  runs,
  times: new Map(kernels.map((repeats) => [kernelKey(repeats), repeats])),
});

/** Of whole reports. */
export function spreadOfReport({ totals, kernel_repeats }: NCUProfileRegionReport): KernelSpread {
  const [first] = kernel_repeats ?? [];
  return first === undefined || kernel_repeats === undefined
    ? NO_SPREAD
    : // Before 1.6, all runs have launched each of them.
      spreadOf(kernel_repeats, totals.repeats?.runs ?? first.runs);
}

/** Before 1.6 unknown: how a kernel varies in all regions together says nothing about one of them. */
export const spreadInRegion = (region: NCUProfileRegion | null): KernelSpread =>
  region?.repeats?.kernels === undefined
    ? NO_SPREAD
    : spreadOf(region.repeats.kernels, region.repeats.runs);

/**
 * Of several regions together, which may vary together: so much as their intervals do at most. Unknown unless every run
 * has all regions.
 */
export function spreadInRegions(regions: readonly NCUProfileRegion[]): KernelSpread {
  const withKernels = outermost(regions).filter(
    ({ kernels, repeats }) => kernels.length > 0 || repeats?.kernels !== undefined,
  );
  const [runs = 1] = withKernels.map(({ repeats }) => repeats?.total_runs ?? 1);
  if (withKernels.some(({ repeats }) => repeats?.kernels === undefined || repeats.runs !== runs))
    return NO_SPREAD;
  const times = new Map<string, KernelRepeats>();
  for (const { repeats } of withKernels)
    for (const kernel of repeats?.kernels ?? []) {
      const previous = times.get(kernelKey(kernel));
      times.set(kernelKey(kernel), previous === undefined ? kernel : together(previous, kernel));
    }
  return { runs, times };
}

const together = (first: KernelRepeats, second: KernelRepeats): KernelRepeats => {
  const sumOf = (statistic: "mean" | "std" | "ci95_low" | "ci95_high") =>
    first.total_ms[statistic] + second.total_ms[statistic];
  return {
    ...first,
    runs: Math.max(first.runs, second.runs),
    total_ms: {
      mean: sumOf("mean"),
      std: sumOf("std"),
      ci95_low: sumOf("ci95_low"),
      ci95_high: sumOf("ci95_high"),
      stable: first.total_ms.stable && second.total_ms.stable,
    },
  };
};

/** Kernels of whole reports. */
export const reportKernels = (reports: BothReports, looked: CoverageOfBoth, spread: SpreadOfBoth) =>
  kernelChanges(
    kernelsOfReport(reports.a).longest(),
    kernelsOfReport(reports.b).longest(),
    looked,
    spread,
  );

/** The kernels of regions that both selections include, followed by all other kernels, which are marked as left out. */
export function kernelsCoveredByBoth(
  whole: BothReports,
  shared: BothReports,
  looked: CoverageOfBoth,
  spread: SpreadOfBoth,
): readonly KernelChange[] {
  const compared = reportKernels(shared, looked, spread);
  const keys = new Set(compared.map(kernelKey));
  const ofWhole = { a: spreadOfReport(whole.a), b: spreadOfReport(whole.b) };
  const others = reportKernels(whole, looked, ofWhole).filter(
    (kernel) => !keys.has(kernelKey(kernel)),
  );
  return [...compared, ...others.map(kernelLeftOut)].sort((x, y) => weight(y) - weight(x));
}

/** @param a the kernels of A in the run shown; other runs may have others, which the spread has */
export function kernelChanges(
  a: readonly KernelRecord[],
  b: readonly KernelRecord[],
  looked: CoverageOfBoth,
  spread: SpreadOfBoth,
): readonly KernelChange[] {
  const ofA = summed(a, spread.a);
  const ofB = summed(b, spread.b);
  return [...new Map([...ofB, ...ofA])]
    .map(([key, kernel]) =>
      kernelChange(kernel, { a: ofA.get(key) ?? null, b: ofB.get(key) ?? null }, looked, spread),
    )
    .sort((x, y) => weight(y) - weight(x));
}

function kernelChange(
  { kernel_name, kind }: KernelSum,
  { a, b }: Readonly<Record<"a" | "b", KernelSum | null>>,
  looked: CoverageOfBoth,
  spread: SpreadOfBoth,
): KernelChange {
  const key = kernelKey({ kernel_name, kind });
  const timeOf = (sum: KernelSum | null, side: "a" | "b") =>
    sum && measuredKernel(kernelMs(sum), spread[side], key);
  const [timeA, timeB] = [timeOf(a, "a"), timeOf(b, "b")];
  // A kernel that both have, but whose time only one has, is neither new nor removed.
  const isTimed = (a === null || timeA !== null) && (b === null || timeB !== null);
  const presence = presenceOf(a, b, (side) => looked[side].kernel({ kernel_name, kind }));
  const [counters, others] = [a, b].map((sum) => mergeHardware(sum?.measured ?? NONE));
  const limits = limitsOf(counters, others);
  return {
    kernel_name,
    kind,
    presence,
    changes: changesAs(presence, {
      ...(isTimed && { total_ms: timeChange(timeA, timeB) }),
      calls: countChange(a?.calls ?? null, b?.calls ?? null),
      ...counterChanges(counters, others),
    }),
    ...(limits !== undefined && { limits }),
  };
}

export const kernelLeftOut = (kernel: KernelChange): KernelChange => ({
  ...kernel,
  presence: "left_out",
  changes: changesAs("left_out", kernel.changes),
});

const kernelKey = ({ kernel_name, kind }: Pick<KernelRecord, "kernel_name" | "kind">): string =>
  JSON.stringify([kernel_name, kind]);

interface KernelSum extends Pick<KernelRecord, "kernel_name" | "kind" | "total_ms" | "calls"> {
  /** The records with counters, which few reports have. */
  readonly measured: readonly KernelRecord[];
}

/** A kernel is counted once, whatever devices it ran on. */
function summed(
  kernels: readonly KernelRecord[],
  { times }: KernelSpread,
): ReadonlyMap<string, KernelSum> {
  const sums = new Map<string, KernelSum>();
  for (const record of kernels) {
    const { kernel_name, kind, total_ms, calls, hardware } = record;
    const key = kernelKey(record);
    const sum = sums.get(key) ?? { total_ms: null, calls: 0, measured: NONE };
    sums.set(key, {
      kernel_name,
      kind,
      total_ms: sum.total_ms === null ? total_ms : sum.total_ms + (total_ms ?? 0),
      calls: sum.calls + calls,
      measured: hardware === undefined ? sum.measured : [...sum.measured, record],
    });
  }
  for (const [key, { kernel_name, kind }] of times)
    if (!sums.has(key))
      sums.set(key, { kernel_name, kind, total_ms: null, calls: 0, measured: NONE });
  return sums;
}

const NONE: readonly KernelRecord[] = [];

// Kernels that have another name only because their shapes changed.

/** In descending order of the difference. */
export function kernelPairs(
  kernels: readonly KernelChange[],
  spread: SpreadOfBoth,
): readonly KernelPair[] {
  const groups = new Map<string, KernelChange[]>();
  for (const kernel of kernels)
    if (kernel.presence === "added" || kernel.presence === "removed")
      getOrCreate(groups, `${kernel.kind} ${shapeless(kernel.kernel_name)}`, () => []).push(kernel);
  return [...groups.values()]
    .flatMap((group) => pairOf(group, spread) ?? [])
    .sort((x, y) => weight(y) - weight(x));
}

function pairOf(group: readonly KernelChange[], spread: SpreadOfBoth): KernelPair | null {
  const [first] = group;
  const withPresence = (presence: Presence) =>
    group.filter((kernel) => kernel.presence === presence);
  const [a, b] = [withPresence("removed"), withPresence("added")];
  if (first === undefined || a.length === 0 || b.length === 0) return null;
  const numberOf = (side: "a" | "b", name: string, all: readonly KernelChange[]) =>
    all.reduce<number | null>((sum, { changes }) => {
      const value = changes[name]?.[side] ?? null;
      return value === null || sum === null ? null : sum + value;
    }, 0);
  const timeOf = (side: "a" | "b", all: readonly KernelChange[]) =>
    measuredTogether(
      numberOf(side, "total_ms", all),
      all.map((kernel) => {
        const ms = kernel.changes["total_ms"]?.[side] ?? null;
        return { ms, measured: measuredKernel(ms, spread[side], kernelKey(kernel)) };
      }),
    );
  return {
    name: commonName(group.map(({ kernel_name }) => kernel_name)),
    kind: first.kind,
    a: a.map(({ kernel_name }) => kernel_name),
    b: b.map(({ kernel_name }) => kernel_name),
    changes: {
      total_ms: timeChange(timeOf("a", a), timeOf("b", b)),
      calls: countChange(numberOf("a", "calls", a), numberOf("b", "calls", b)),
    },
  };
}

/** Several numbers in a row count as one; numbers of lambdas (`#1`) identify them. */
const NUMBERS = /(?<![#\d])\d+(?:\s*[x,]\s*\d+)*/g;

/** The name without its numbers. */
export const shapeless = (name: string): string => name.replaceAll(NUMBERS, "*");

/** The common part of names that are equal without their numbers. */
export function commonName(names: readonly string[]): string {
  const [first = "", ...others] = names.map((name) => name.match(NUMBERS) ?? []);
  let index = 0;
  return (names[0] ?? "").replaceAll(NUMBERS, () => {
    const numbers = first[index] ?? "";
    const isCommon = others.every((other) => other[index] === numbers);
    index++;
    return isCommon ? numbers : "*";
  });
}

const weight = ({ changes }: Pick<KernelChange, "changes">): number => {
  const { a, b } = changes["total_ms"] ?? { a: null, b: null };
  return Math.abs((b ?? 0) - (a ?? 0));
};

// GPU activity of a region, and counters of a kernel, in two reports.

type Region = Pick<NCUProfileRegion, "gpu_activity" | "wall_ms">;

type BothLimits = NonNullable<KernelChange["limits"]>;

/** The numbers of `activityChanges` of one run, which pairs of runs compare. */
export const activityTimes = (region: Region): Readonly<Record<string, number | null>> =>
  region.gpu_activity === undefined
    ? {}
    : {
        [COMPARED_BUSY_SHARE]: busyShare(region),
        ...Object.fromEntries(
          Object.entries(COMPARED_ACTIVITY).map(([name, part]) => [
            name,
            region.gpu_activity?.[part] ?? null,
          ]),
        ),
      };

/** Empty if neither report has GPU activity. */
export function activityChanges(a: Region | null, b: Region | null): Changes {
  if (a?.gpu_activity === undefined && b?.gpu_activity === undefined) return {};
  const wall = Math.max(a?.wall_ms ?? 0, b?.wall_ms ?? 0);
  const shares = [a, b].map((region) => measuredAlone(region && busyShare(region)));
  const parts = Object.entries(COMPARED_ACTIVITY).map(([name, part]): [string, Change] => {
    const [before, after] = [a, b].map((region) =>
      measuredAlone(region?.gpu_activity?.[part] ?? null),
    );
    return [name, partChange(timeChange(before ?? null, after ?? null), wall)];
  });
  const [before = null, after = null] = shares;
  return {
    [COMPARED_BUSY_SHARE]: partChange(timeChange(before, after), 100),
    ...Object.fromEntries(parts),
  };
}

/** Empty if neither report has counters of the kernel. */
function counterChanges(a: KernelHardware | undefined, b: KernelHardware | undefined): Changes {
  if (a === undefined && b === undefined) return {};
  const shares = COMPARED_COUNTERS.map((name): [string, Change] => [
    name,
    partChange(changeOf(measuredAlone(a?.[name] ?? null), measuredAlone(b?.[name] ?? null)), 100),
  ]);
  const limit = changeOf(
    computed(a?.[COMPARED_LIMIT] ?? null),
    computed(b?.[COMPARED_LIMIT] ?? null),
  );
  return { ...Object.fromEntries(shares), [COMPARED_LIMIT]: limit };
}

/** A number that follows from how a kernel was compiled and launched, and therefore does not vary between runs. */
const computed = (value: number | null) => (value === null ? null : { value, uncertainty: 0 });

function limitsOf(
  a: KernelHardware | undefined,
  b: KernelHardware | undefined,
): BothLimits | undefined {
  return a === undefined && b === undefined ? undefined : { a: limits(a), b: limits(b) };
}

const limits = (hardware: KernelHardware | undefined): KernelLimits | null =>
  hardware === undefined
    ? null
    : {
        limited_by: hardware.limited_by,
        occupancy_limited_by: hardware.occupancy_limited_by,
      };
