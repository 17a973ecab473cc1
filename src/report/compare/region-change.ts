/** A region in two reports: its numbers, its metrics and its kernels. */

import type { NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { storedFamily } from "../model/families.ts";
import { type Placed, placeKey } from "../model/region-path.ts";
import { allMetrics, COMPARED_COLUMNS, type ComparedColumn } from "../view/region-columns.ts";
import { isTimeUnit } from "../view/roofline.ts";
import {
  asLeftOut,
  changeOf,
  changesAs,
  changesIf,
  countChange,
  type Measured,
  presenceOf,
  timeChange,
} from "./change.ts";
import type { Changes, KernelChange, RegionChange } from "./comparison-types.ts";
import { activityChanges, kernelChanges, kernelLeftOut, spreadInRegion } from "./kernel-changes.ts";
import {
  measuredAlone,
  measuredCpu,
  measuredInstructions,
  measuredMedian,
  measuredWall,
  measuredWork,
} from "./noise.ts";
import {
  type CoverageOfBoth,
  isSameKernels,
  isSameMeasurement,
  selectionOf,
} from "./selection-coverage.ts";

/** @param a null if the report does not have it; likewise b, but never both */
export function regionChange(
  a: NCUProfileRegion | null,
  b: NCUProfileRegion | null,
  looked: CoverageOfBoth,
  same: SameWork,
): RegionChange {
  const shown = b ?? a;
  if (shown === null) throw new Error("a region of neither report");
  const presence = presenceOf(
    a,
    b,
    (side) => looked[side].region(shown) && (looked[side].isWhole || shown.kind === "outside"),
  );
  const found = kernelChanges(a?.kernels ?? [], b?.kernels ?? [], looked, {
    a: spreadInRegion(a),
    b: spreadInRegion(b),
  });
  const isSame = presence !== "both" || same.inRegion(shown, found);
  const isLeftOut = presence === "left_out" || !(isSame || same.inKernels);
  return {
    path: shown.path,
    domain: shown.domain,
    ...(shown.path_domains !== undefined && { path_domains: shown.path_domains }),
    ...storedFamily(shown.path),
    ...((a?.members ?? b?.members) !== undefined && {
      members: { a: a?.members ?? null, b: b?.members ?? null },
    }),
    kind: shown.kind,
    presence,
    ...runsChange(a, b),
    changes: changesAs(presence, {
      ...timeChanges(a, b, isSame),
      ...rankChanges(a, b),
      ...activityChanges(a, b),
      ...changesIf(isSame, metricChanges(a, b)),
    }),
    kernels: isLeftOut ? found.map(kernelLeftOut) : found,
  };
}

/** In how many runs each report saw the region; nothing if all runs did. */
function runsChange(
  a: NCUProfileRegion | null,
  b: NCUProfileRegion | null,
): Pick<RegionChange, "runs"> {
  const [inA, inB] = [a, b].map((region) => {
    const { runs = 0, total_runs = runs, cut_runs: cut } = region?.repeats ?? {};
    return runs === 0 ? null : { seen: runs, total: total_runs, ...(cut !== undefined && { cut }) };
  });
  const isRare = [inA, inB].some((runs) => runs != null && runs.seen < runs.total);
  return isRare ? { runs: { a: inA ?? null, b: inB ?? null } } : {};
}

/** Times and counts. @param isSame whether both sides measured the same kernels */
const timeChanges = (
  a: NCUProfileRegion | null,
  b: NCUProfileRegion | null,
  isSame: boolean,
): Changes =>
  Object.assign(
    {},
    ...COMPARED_COLUMNS.map(({ name, noise, needsSameWork, value }) => {
      const changed =
        noise === "count"
          ? countChange(a && value(a), b && value(b))
          : (isCounted(noise) ? changeOf : timeChange)(
              a && MEASURED[noise](a, value(a)),
              b && MEASURED[noise](b, value(b)),
            );
      return needsSameWork ? changesIf(isSame, { [name]: changed }) : { [name]: changed };
    }),
  );

const MEASURED: Readonly<
  Record<
    Exclude<ComparedColumn["noise"], "count">,
    (region: NCUProfileRegion, value: number | null) => Measured | null
  >
> = {
  total_ms: measuredWork,
  exclusive_ms: (region, ms) => measuredWork(region, ms, "exclusive_ms"),
  wall_ms: measuredWall,
  wall_exclusive_ms: (region, ms) => measuredWall(region, ms, "wall_exclusive_ms"),
  cpu_ms: measuredCpu,
  cpu_exclusive_ms: (region, ms) => measuredCpu(region, ms, "cpu_exclusive_ms"),
  instructions: measuredInstructions,
  instructions_exclusive: (region, count) =>
    measuredInstructions(region, count, "instructions_exclusive"),
  median: measuredMedian,
  none: (_, value) => measuredAlone(value),
};

const isCounted = (noise: ComparedColumn["noise"]): boolean =>
  noise === "instructions" || noise === "instructions_exclusive";

/** How evenly the ranks share the region, the time of the slowest rank, and the total waiting time. */
function rankChanges(a: NCUProfileRegion | null, b: NCUProfileRegion | null): Changes {
  if (a?.ranks === undefined && b?.ranks === undefined) return {};
  const change = (number: "imbalance" | "max_ms" | "waiting_ms") =>
    timeChange(
      measuredAlone(a?.ranks?.[number] ?? null),
      measuredAlone(b?.ranks?.[number] ?? null),
    );
  const waiting = change("waiting_ms");
  return {
    imbalance: change("imbalance"),
    rank_max_ms: change("max_ms"),
    ...(waiting !== undefined && { waiting_ms: waiting }),
  };
}

/**
 * Metrics of a region that both reports have: a metric of only one report is new or removed. Values in different units
 * are shown side by side, since they cannot be subtracted.
 */
function metricChanges(a: NCUProfileRegion | null, b: NCUProfileRegion | null): Changes {
  if (a === null || b === null) return {};
  const [ofA, ofB] = [allMetrics(a), allMetrics(b)];
  const names = new Set([...Object.keys(ofA), ...Object.keys(ofB)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const [before, after] = [ofA, ofB].map((metrics) =>
        Object.hasOwn(metrics, name) ? metrics[name] : undefined,
      );
      const isTime = [before, after].some((metric) => isTimeUnit(metric?.unit ?? ""));
      const change = (isTime ? timeChange : changeOf)(
        measuredAlone(before?.value ?? null),
        measuredAlone(after?.value ?? null),
      );
      const isOneUnit = before === undefined || after === undefined || before.unit === after.unit;
      return [name, isOneUnit ? change : asLeftOut(change)];
    }),
  );
}

// Whether kernel numbers of both reports are of the same work: a selection that excludes kernels from the measurement
// or the count changes the totals, and the numbers of the enclosing regions.

interface SameWork {
  /** For a region that both reports have, and its kernels. */
  readonly inRegion: (region: Placed, kernels: readonly KernelChange[]) => boolean;
  /** For kernels in regions that both selections include. */
  readonly inKernels: boolean;
  /** For the totals, and the kernels of the reports. */
  readonly inTotals: (kernels: readonly KernelChange[]) => boolean;
}

interface Side {
  readonly report: NCUProfileRegionReport;
  readonly regions: readonly NCUProfileRegion[];
}

export function sameWork(a: Side, b: Side, looked: CoverageOfBoth): SameWork {
  const [ofA, ofB] = [selectionOf(a.report), selectionOf(b.report)];
  const isMeasuredAlike = isSameMeasurement(ofA, ofB);
  // Only ncu can tell which kernels of a region its expressions match.
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
