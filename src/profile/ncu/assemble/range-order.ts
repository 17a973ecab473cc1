import type { RegionModel } from "../../regions/index.ts";
import type { NvtxRange, NvtxState } from "../results.ts";

/** A range at its place in a stack. */
export interface StackedRange extends NvtxRange {
  readonly kind: "push_pop" | "start_end";
}

/** Puts the ranges that were open at a launch into one order, outermost first. */
export type RangeOrder = (state: NvtxState) => readonly StackedRange[];

/**
 * ncu lists ranges by domain, and start/end ranges apart, so that their order across domains and
 * kinds is lost. A recording of the same program knows it: its paths decide. Without one, start/end
 * ranges come first, since they mostly mark phases, and domains stand as ncu lists them.
 */
export function createRangeOrder(recorded: RegionModel | null): RangeOrder {
  const orders = recorded === null ? new Map<string, readonly string[]>() : ordersOf(recorded);
  return (state) => {
    const listed = [
      ...state.startEnd.map((range) => ({ ...range, kind: "start_end" as const })),
      ...state.pushPop.map((range) => ({ ...range, kind: "push_pop" as const })),
    ];
    if (!isMixed(listed)) return listed;
    const order = orders.get(keyOf(listed.map(({ name }) => name)));
    return order === undefined ? listed : arranged(listed, order);
  };
}

/** Whether the order of these ranges is not known from ncu alone. */
export const isMixed = (ranges: readonly StackedRange[]): boolean =>
  ranges.some(({ domain, kind }) => domain !== ranges[0]?.domain || kind !== ranges[0]?.kind);

/** Paths by the names in them; where two paths have the same names, neither decides. */
function ordersOf({ scopes }: RegionModel): ReadonlyMap<string, readonly string[]> {
  const orders = new Map<string, readonly string[]>();
  const doubtful = new Set<string>();
  for (const { path } of scopes.flatMap(({ regions }) => regions)) {
    const key = keyOf(path);
    const known = orders.get(key);
    if (known !== undefined && known.join("\0") !== path.join("\0")) doubtful.add(key);
    orders.set(key, path);
  }
  for (const key of doubtful) orders.delete(key);
  return orders;
}

const keyOf = (names: readonly string[]): string => JSON.stringify([...names].sort());

/** Ranges of one name keep the order in which they are listed. */
function arranged(
  listed: readonly StackedRange[],
  order: readonly string[],
): readonly StackedRange[] {
  const left = [...listed];
  return order.flatMap((name) => {
    const at = left.findIndex((range) => range.name === name);
    return at < 0 ? [] : left.splice(at, 1);
  });
}
