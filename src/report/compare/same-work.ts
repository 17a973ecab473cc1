/**
 * Whether kernel numbers of both reports are of the same work. A selection that keeps kernels from being
 * measured or counted changes the numbers of the regions around them, and totals.
 */
import type { NCUProfileRegion, NCUProfileRegionReport } from "../document.ts";
import { type Placed, placeKey } from "../region-path.ts";
import type { KernelChange } from "./kernel-changes.ts";
import {
  isSameKernels,
  isSameMeasurement,
  type LookedForByBoth,
  selectionOf,
} from "./looked-for.ts";

export interface SameWork {
  /** For a region that both have, with its kernels. */
  readonly inRegion: (region: Placed, kernels: readonly KernelChange[]) => boolean;
  /** For kernels in the regions that both looked for. */
  readonly inKernels: boolean;
  /** For everything that ran, with the kernels of the reports. */
  readonly inTotals: (kernels: readonly KernelChange[]) => boolean;
}

interface Side {
  readonly report: NCUProfileRegionReport;
  readonly regions: readonly NCUProfileRegion[];
}

export function sameWork(a: Side, b: Side, looked: LookedForByBoth): SameWork {
  const [ofA, ofB] = [selectionOf(a.report), selectionOf(b.report)];
  const isMeasuredAlike = isSameMeasurement(ofA, ofB);
  // Only ncu knows which kernels in a region its expressions match.
  const isInDoubt =
    !isMeasuredAlike &&
    [ofA, ofB].some(
      ({ ncu_include_expressions: include = [], ncu_exclude_expressions: exclude = [] }) =>
        include.length + exclude.length > 0,
    );
  const lacking = new Set<string>();
  if (!isMeasuredAlike)
    for (const [selection, side, other] of [
      [ofA, "a", b],
      [ofB, "b", a],
    ] as const) {
      if (selection.applies_to === "report" || selection.exclude_patterns.length === 0) continue;
      for (const region of other.regions)
        if (region.kind !== "outside" && !looked[side].region(region))
          for (let level = 1; level < region.path.length; level++)
            lacking.add(placeKey(region, level));
    }
  const isSelectionOfKernelsAlike = isSameKernels(ofA, ofB);
  const showsAll = [ofA, ofB].every(
    ({ include_patterns, exclude_patterns }) =>
      include_patterns.length + exclude_patterns.length === 0,
  );
  return {
    inRegion: (region, kernels) =>
      !isInDoubt &&
      (lacking.size === 0 || !lacking.has(placeKey(region))) &&
      !kernels.some(isLeftOut),
    inKernels: !isInDoubt && lacking.size === 0,
    inTotals: (kernels) =>
      isMeasuredAlike && (isSelectionOfKernelsAlike || (showsAll && !kernels.some(isLeftOut))),
  };
}

const isLeftOut = ({ presence }: KernelChange): boolean => presence === "left_out";
