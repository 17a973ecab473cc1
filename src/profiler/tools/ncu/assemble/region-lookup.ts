/** Finds the regions that a result of ncu counts for. */
import { isDeepStrictEqual } from "node:util";
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import { matchesRange, parseRangePattern } from "../../../../report/selection/range-pattern.ts";
import { MAX_DEPTH, outsideRegion } from "../../../analysis/attribute.ts";
import {
  childNode,
  type PathNode,
  type RegionIdentity,
  regionAt,
} from "../../../analysis/path-tree.ts";
import type { RegionModel } from "../../../analysis/region-model.ts";
import type { NcuResult, NvtxRange, NvtxState } from "../../../model/counters.ts";

export interface LookupOptions {
  readonly order: RangeOrder;
  /** `process`: a kernel whose thread has no range belongs to the ranges of another thread. */
  readonly pushPopScope: "thread" | "process";
  /** Globs of the ranges that were profiled in range replay; empty: all. */
  readonly rangePatterns: readonly string[];
}

/** The regions that a result counts for, outermost first; the last one is its exclusive owner. */
export type RegionLookup = (result: NcuResult) => readonly RegionIdentity[];

/** Caches lookups by state, because results share states. */
export function createRegionLookup(root: PathNode, options: LookupOptions): RegionLookup {
  const patterns = options.rangePatterns.map(parseRangePattern);
  const ofKernels = new Map<NvtxState, readonly RegionIdentity[]>();
  const ofRanges = new Map<NvtxState, readonly RegionIdentity[]>();

  const rangePath = (state: NvtxState): readonly StackedRange[] => {
    const ranges = options.order.rangesOf(stateInScope(state, options.pushPopScope));
    return ranges.slice(0, MAX_DEPTH);
  };
  const kernelRegions = (state: NvtxState): readonly RegionIdentity[] =>
    regionsAlong(root, rangePath(state));
  /** A range row belongs only to the profiled range, not to the enclosing ranges in its state. */
  const rangeRegion = (state: NvtxState): readonly RegionIdentity[] => {
    const path = rangePath(state);
    const matches = ({ domain, name }: StackedRange) =>
      patterns.length === 0 || patterns.some((pattern) => matchesRange(pattern, domain, name));
    const index = path.findLastIndex(matches);
    return regionsAlong(root, index < 0 ? path : path.slice(0, index + 1)).slice(-1);
  };
  return ({ kind, nvtx }) =>
    getOrCreate(kind === "kernel" ? ofKernels : ofRanges, nvtx, () => {
      const regions = kind === "kernel" ? kernelRegions(nvtx) : rangeRegion(nvtx);
      return regions.length === 0 ? [outsideRegion(root)] : regions;
    });
}

/** Paths differ at each level, so that no region is in the list twice, even with recursion. */
function regionsAlong(root: PathNode, path: readonly StackedRange[]): readonly RegionIdentity[] {
  let node = root;
  return path.map(({ domain, name, kind }) => {
    node = childNode(node, name, domain);
    return regionAt(node, kind);
  });
}

function stateInScope(state: NvtxState, scope: LookupOptions["pushPopScope"]): NvtxState {
  if (scope === "thread" || state.pushPop.length > 0) return state;
  const [other] = state.otherThreads ?? [];
  return other === undefined ? state : { ...state, pushPop: other };
}

/** A range in a stack. */
interface StackedRange extends NvtxRange {
  readonly kind: "push_pop" | "start_end";
}

interface RangeOrder {
  /** Orders the ranges that were open at a launch, outermost first. */
  readonly rangesOf: (state: NvtxState) => readonly StackedRange[];
  /** Whether that order is unknown from both ncu and the recording. */
  readonly isGuessed: (state: NvtxState) => boolean;
}

/** For states that list ranges in their true order. */
export const LISTED_ORDER: RangeOrder = {
  rangesOf: (state) => listedBy(state),
  isGuessed: () => false,
};

/**
 * ncu lists ranges by domain, and start/end ranges separately, so that the order across domains and kinds is lost. The
 * paths in a recording of the same program decide it. Without one, start/end ranges come first, since they mostly mark
 * phases, and domains keep ncu's order.
 */
export function createRangeOrder(recorded: RegionModel | null): RangeOrder {
  const orders = recorded === null ? new Map<string, readonly NvtxRange[]>() : ordersOf(recorded);
  return {
    rangesOf(state) {
      const listed = listedBy(state);
      if (!isMixed(listed)) return listed;
      const order = orders.get(keyOf(listed));
      return order === undefined ? listed : arranged(listed, order);
    },
    isGuessed(state) {
      const listed = listedBy(state);
      return isMixed(listed) && !orders.has(keyOf(listed));
    },
  };
}

const listedBy = ({ startEnd, pushPop }: NvtxState): readonly StackedRange[] => [
  ...startEnd.map((range) => ({ ...range, kind: "start_end" as const })),
  ...pushPop.map((range) => ({ ...range, kind: "push_pop" as const })),
];

/** Whether ncu alone does not give the order of these ranges. */
const isMixed = (ranges: readonly StackedRange[]): boolean =>
  ranges.some(({ domain, kind }) => domain !== ranges[0]?.domain || kind !== ranges[0]?.kind);

/** Paths by the ranges in them; if two paths have the same ranges, neither decides. */
function ordersOf({ scopes }: RegionModel): ReadonlyMap<string, readonly NvtxRange[]> {
  const orders = new Map<string, readonly NvtxRange[]>();
  const doubtful = new Set<string>();
  for (const region of scopes.flatMap(({ regions }) => regions)) {
    const { path, domain } = region;
    const ranges = path.map((name, level) => ({
      name,
      domain: region.path_domains?.[level] ?? domain,
    }));
    const key = keyOf(ranges);
    const existing = orders.get(key);
    if (existing !== undefined && !isDeepStrictEqual(existing, ranges)) doubtful.add(key);
    orders.set(key, ranges);
  }
  for (const key of doubtful) orders.delete(key);
  return orders;
}

const keyOf = (ranges: readonly NvtxRange[]): string =>
  JSON.stringify(ranges.map(({ domain, name }) => JSON.stringify([domain, name])).sort());

/** Ranges of the same name and domain keep the order in which they are listed. */
function arranged(
  listed: readonly StackedRange[],
  order: readonly NvtxRange[],
): readonly StackedRange[] {
  const left = [...listed];
  return order.flatMap(({ domain, name }) => {
    const index = left.findIndex((range) => range.name === name && range.domain === domain);
    return index < 0 ? [] : left.splice(index, 1);
  });
}
