import { isDeepStrictEqual } from "node:util";
import type { RegionModel } from "../../regions/index.ts";
import type { NvtxRange, NvtxState } from "../results.ts";

/** A range at its place in a stack. */
export interface StackedRange extends NvtxRange {
  readonly kind: "push_pop" | "start_end";
}

export interface RangeOrder {
  /** Puts the ranges that were open at a launch into one order, outermost first. */
  readonly of: (state: NvtxState) => readonly StackedRange[];
  /** Whether neither ncu nor the recording tells that order. */
  readonly isGuessed: (state: NvtxState) => boolean;
}

/**
 * ncu lists ranges by domain, and start/end ranges apart, so that their order across domains and
 * kinds is lost. A recording of the same program knows it: its paths decide. Without one, start/end
 * ranges come first, since they mostly mark phases, and domains stand as ncu lists them.
 */
export function createRangeOrder(recorded: RegionModel | null): RangeOrder {
  const orders = recorded === null ? new Map<string, readonly NvtxRange[]>() : ordersOf(recorded);
  return {
    of(state) {
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

/** Whether the order of these ranges is not known from ncu alone. */
const isMixed = (ranges: readonly StackedRange[]): boolean =>
  ranges.some(({ domain, kind }) => domain !== ranges[0]?.domain || kind !== ranges[0]?.kind);

/** Paths by the ranges in them; where two paths have the same ranges, neither decides. */
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
    const known = orders.get(key);
    if (known !== undefined && !isDeepStrictEqual(known, ranges)) doubtful.add(key);
    orders.set(key, ranges);
  }
  for (const key of doubtful) orders.delete(key);
  return orders;
}

const keyOf = (ranges: readonly NvtxRange[]): string =>
  JSON.stringify(ranges.map(({ domain, name }) => JSON.stringify([domain, name])).sort());

/** Ranges of one name and domain keep the order in which they are listed. */
function arranged(
  listed: readonly StackedRange[],
  order: readonly NvtxRange[],
): readonly StackedRange[] {
  const left = [...listed];
  return order.flatMap(({ domain, name }) => {
    const at = left.findIndex((range) => range.name === name && range.domain === domain);
    return at < 0 ? [] : left.splice(at, 1);
  });
}
