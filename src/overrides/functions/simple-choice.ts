import type { ChoiceSweep, OverrideValue } from "../ast.ts";
import { isSweepValue } from "../ast.ts";
import type { Call } from "./function.ts";
import { fail } from "./function.ts";

/** `sort(a,b)`, `shuffle(a,b)` and `int(a,b)` mean the sweep `a,b`; its items are no sweeps. */
export function simpleChoice(items: readonly OverrideValue[], call: Call): ChoiceSweep {
  if (items.some(isSweepValue)) fail(call, "several arguments must be values, not sweeps");
  return { kind: "choice", items, simple: true, shuffle: false, tags: [], span: call.span };
}
