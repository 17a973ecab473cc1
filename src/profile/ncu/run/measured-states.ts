/** What of a result's NVTX state its region is told from. */
import type { NcuResult, NvtxRange, NvtxState } from "../results.ts";
import type { NvtxLabel } from "./filters.ts";
import { labelKey } from "./labels.ts";

export interface StateOptions {
  /** The regions that a range pass measures; null leaves the state as it is. */
  readonly labels: readonly NvtxLabel[] | null;
  /** Their ranges are operations, never regions. */
  readonly operationDomains: readonly string[];
}

/**
 * The state of a range result is that of its first API call, by when ranges inside it may be open
 * already: it is cut at the range that was measured. Equal states stay one object.
 */
export function createStateReader({
  labels,
  operationDomains,
}: StateOptions): (result: NcuResult) => NcuResult {
  const ignored = new Set(operationDomains);
  const wanted = labels === null ? null : new Set(labels.map(labelKey));
  const known = new Map<NvtxState, NvtxState>();
  const isRegion = ({ domain }: NvtxRange) => !ignored.has(domain);
  const read = (state: NvtxState, isRange: boolean): NvtxState => {
    const pushPop = state.pushPop.filter(isRegion);
    const startEnd = state.startEnd.filter(isRegion);
    const others = state.otherThreads?.map((stack) => stack.filter(isRegion));
    const whole = { ...state, pushPop, startEnd, ...(others && { otherThreads: others }) };
    if (wanted === null || !isRange) return whole;
    const at = pushPop.findLastIndex((range) =>
      wanted.has(labelKey({ ...range, kind: "push_pop" })),
    );
    if (at >= 0) return { pushPop: pushPop.slice(0, at + 1), startEnd: [] };
    const measured = startEnd.find((range) =>
      wanted.has(labelKey({ ...range, kind: "start_end" })),
    );
    // What was open around a start/end range is not known from its result.
    return measured === undefined ? whole : { pushPop: [], startEnd: [measured] };
  };
  return (result) => {
    let state = known.get(result.nvtx);
    if (state === undefined) {
      state = read(result.nvtx, result.kind === "range");
      known.set(result.nvtx, state);
    }
    return { ...result, nvtx: state };
  };
}
