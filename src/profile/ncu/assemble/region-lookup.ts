import { matchesRange, parseRangePattern } from "../../../report/selection/range-pattern.ts";
import { getOrCreate } from "../../../system/get-or-create.ts";
import { MAX_DEPTH, outsideRegion } from "../../regions/attribute.ts";
import {
  childNode,
  type PathNode,
  type RegionIdentity,
  regionAt,
} from "../../regions/path-tree.ts";
import type { NcuResult, NvtxState } from "../results.ts";
import type { RangeOrder, StackedRange } from "./range-order.ts";

export interface LookupOptions {
  readonly order: RangeOrder;
  /** `process`: a kernel whose thread has no range belongs to those of another thread. */
  readonly pushPopScope: "thread" | "process";
  /** Globs of the ranges that were profiled, in range replay; empty: all. */
  readonly rangePatterns: readonly string[];
}

/** The regions that a result counts for, outermost first; the last one is its exclusive owner. */
export type RegionLookup = (result: NcuResult) => readonly RegionIdentity[];

/** States are shared between results, so that each is looked up once. */
export function createRegionLookup(root: PathNode, options: LookupOptions): RegionLookup {
  const patterns = options.rangePatterns.map(parseRangePattern);
  const ofKernels = new Map<NvtxState, readonly RegionIdentity[]>();
  const ofRanges = new Map<NvtxState, readonly RegionIdentity[]>();

  const pathOf = (state: NvtxState): readonly StackedRange[] => {
    const ranges = options.order.of(stateInScope(state, options.pushPopScope));
    return ranges.slice(0, MAX_DEPTH);
  };
  const kernelRegions = (state: NvtxState): readonly RegionIdentity[] =>
    regionsAlong(root, pathOf(state));
  /** A range row belongs to the one range that was profiled: what its state holds around it is not. */
  const rangeRegion = (state: NvtxState): readonly RegionIdentity[] => {
    const path = pathOf(state);
    const matches = ({ domain, name }: StackedRange) =>
      patterns.length === 0 || patterns.some((pattern) => matchesRange(pattern, domain, name));
    const at = path.findLastIndex(matches);
    return regionsAlong(root, at < 0 ? path : path.slice(0, at + 1)).slice(-1);
  };
  return ({ kind, nvtx }) =>
    getOrCreate(kind === "kernel" ? ofKernels : ofRanges, nvtx, () => {
      const regions = kind === "kernel" ? kernelRegions(nvtx) : rangeRegion(nvtx);
      return regions.length === 0 ? [outsideRegion(root)] : regions;
    });
}

/** Paths differ at each level, so that no region stands in the list twice, recursion or not. */
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
