import type { LabelOf } from "../labels/label-rules.ts";
import type { NvtxRange, NvtxState } from "./results.ts";

/** NVTX states with the labels that reports show. Equal states stay one object. */
export function createStateUnifier(labelOf: LabelOf): (state: NvtxState) => NvtxState {
  const known = new WeakMap<NvtxState, NvtxState>();
  const unify = ({ domain, name }: NvtxRange): NvtxRange => ({ domain, name: labelOf(name) });
  return (state) => {
    let unified = known.get(state);
    if (unified === undefined) {
      const others = state.otherThreads?.map((stack) => stack.map(unify));
      unified = {
        pushPop: state.pushPop.map(unify),
        startEnd: state.startEnd.map(unify),
        ...(others && { otherThreads: others }),
      };
      known.set(state, unified);
    }
    return unified;
  };
}
