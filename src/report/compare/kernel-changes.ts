/** Kernels in two reports, matched by their names and kinds; the largest difference first. */
import type { KernelRecord, NCUProfileRegionReport } from "../document.ts";
import { kernelsOfReport } from "../kernels/kernels-of-report.ts";
import { mergeHardware } from "../kernels/merge-hardware.ts";
import { kernelMs } from "../measured-time.ts";
import { changeOf, countChange } from "./change.ts";
import { type Changes, changesAs, type Presence, presenceOf } from "./changes.ts";
import { type BothLimits, counterChanges, limitsOf } from "./gpu-changes.ts";
import type { LookedForByBoth } from "./looked-for.ts";
import { measuredAlone } from "./noise.ts";

export interface KernelChange {
  readonly kernel_name: string;
  readonly kind: KernelRecord["kind"];
  readonly presence: Presence;
  readonly changes: Changes;
  /** What limits it by its counters; absent where neither report has any. Since 1.3. */
  readonly limits?: BothLimits;
}

export type BothReports = Readonly<Record<"a" | "b", NCUProfileRegionReport>>;

/** Kernels of whole reports. */
export const reportKernels = ({ a, b }: BothReports, looked: LookedForByBoth) =>
  kernelChanges(kernelsOfReport(a).longest(), kernelsOfReport(b).longest(), looked);

/** The kernels of regions that both looked for, followed by all other kernels, marked left out. */
export function kernelsWhereBothLooked(
  whole: BothReports,
  shared: BothReports,
  looked: LookedForByBoth,
): readonly KernelChange[] {
  const compared = reportKernels(shared, looked);
  const keys = new Set(compared.map(kernelKey));
  const others = reportKernels(whole, looked).filter((kernel) => !keys.has(kernelKey(kernel)));
  return [...compared, ...others.map(kernelLeftOut)].sort((x, y) => weight(y) - weight(x));
}

export function kernelChanges(
  a: readonly KernelRecord[],
  b: readonly KernelRecord[],
  looked: LookedForByBoth,
): readonly KernelChange[] {
  const ofA = summed(a);
  const ofB = summed(b);
  return [...new Map([...ofB, ...ofA])]
    .map(([key, kernel]) =>
      kernelChange(kernel, { a: ofA.get(key) ?? null, b: ofB.get(key) ?? null }, looked),
    )
    .sort((x, y) => weight(y) - weight(x));
}

function kernelChange(
  { kernel_name, kind }: KernelSum,
  { a, b }: Readonly<Record<"a" | "b", KernelSum | null>>,
  looked: LookedForByBoth,
): KernelChange {
  const [timeA, timeB] = [timeOf(a), timeOf(b)];
  // If both have a kernel but only one its time, the kernel is neither new nor gone.
  const isTimed = (a === null || timeA !== null) && (b === null || timeB !== null);
  const presence = presenceOf(a, b, (side) => looked[side].kernel({ kernel_name, kind }));
  const [counters, others] = [a, b].map((sum) => mergeHardware(sum?.measured ?? NONE));
  const limits = limitsOf(counters, others);
  return {
    kernel_name,
    kind,
    presence,
    changes: changesAs(presence, {
      ...(isTimed && { total_ms: changeOf(timeA, timeB) }),
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

const timeOf = (sum: KernelSum | null) => measuredAlone(sum && kernelMs(sum));

interface KernelSum extends Pick<KernelRecord, "kernel_name" | "kind" | "total_ms" | "calls"> {
  /** Those with counters: few reports have any. */
  readonly measured: readonly KernelRecord[];
}

/** A kernel counts as one kernel, whatever devices it ran on. */
function summed(kernels: readonly KernelRecord[]): ReadonlyMap<string, KernelSum> {
  const sums = new Map<string, KernelSum>();
  for (const record of kernels) {
    const { kernel_name, kind, total_ms, calls, hardware } = record;
    const key = kernelKey(record);
    const sum = sums.get(key) ?? { total_ms: 0, calls: 0, measured: NONE };
    sums.set(key, {
      kernel_name,
      kind,
      total_ms: sum.total_ms + total_ms,
      calls: sum.calls + calls,
      measured: hardware === undefined ? sum.measured : [...sum.measured, record],
    });
  }
  return sums;
}

const NONE: readonly KernelRecord[] = [];

const weight = ({ changes }: KernelChange): number => {
  const { a, b } = changes["total_ms"] ?? { a: null, b: null };
  return Math.abs((b ?? 0) - (a ?? 0));
};
