import { getOrCreate } from "../../system/get-or-create.ts";
import type { LabelOf } from "../labels/label-rules.ts";
import type { NvtxRange, NvtxState } from "./results.ts";

/** NVTX states with the labels that reports show. Equal states stay one object. */
export function createStateUnifier(labelOf: LabelOf): (state: NvtxState) => NvtxState {
  const known = new WeakMap<NvtxState, NvtxState>();
  const unify = ({ domain, name }: NvtxRange): NvtxRange => ({ domain, name: labelOf(name) });
  return (state) =>
    getOrCreate(known, state, () => {
      const others = state.otherThreads?.map((stack) => stack.map(unify));
      return {
        pushPop: state.pushPop.map(unify),
        startEnd: state.startEnd.map(unify),
        ...(others && { otherThreads: others }),
      };
    });
}
