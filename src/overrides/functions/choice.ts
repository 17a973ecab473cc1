import { ELEMENT_OR_CHOICE } from "./accept.ts";
import type { OverrideFunction } from "./function.ts";
import { fail } from "./function.ts";

/** `choice(a,b)`: a sweep over its arguments. */
export const choice: OverrideFunction = {
  name: "choice",
  parameters: { rest: ELEMENT_OR_CHOICE, named: [] },
  evaluate({ rest: items }, call) {
    const [first] = items;
    if (first === undefined) fail(call, "a choice needs at least one value");
    if (items.length > 1 || first.kind !== "choice")
      return { kind: "choice", items, simple: false, shuffle: false, tags: [], span: call.span };
    // What sort, shuffle and the casts make of several arguments is taken over with its tags.
    if (!first.simple) fail(call, "a choice cannot be made of a choice");
    return { ...first, simple: false, span: call.span };
  },
};
