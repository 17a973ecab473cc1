import type { OverrideValue } from "../ast.ts";
import { STRING_OR_SWEEP, SWEEP_OR_NULL } from "./accept.ts";
import type { OverrideFunction } from "./function.ts";
import { fail } from "./function.ts";

/** `tag(t1,t2,sweep)`: the sweep with these tags in place of its own. */
export const tag: OverrideFunction = {
  name: "tag",
  parameters: { rest: STRING_OR_SWEEP, named: [{ name: "sweep", accepts: SWEEP_OR_NULL }] },
  evaluate({ rest, get }, call) {
    if (rest.length === 0) fail(call, "the sweep to tag is missing");
    const named = get("sweep");
    const all = named === undefined || isNull(named) ? rest : [...rest, named];
    const sweep = all.at(-1);
    if (sweep?.kind !== "choice" && sweep?.kind !== "range" && sweep?.kind !== "interval")
      fail(call, "the last argument must be a choice, a range or an interval");
    const tags = new Set<string>();
    for (const item of all.slice(0, -1)) {
      if (item.kind !== "scalar" || typeof item.value !== "string")
        fail(call, "a tag must be a string");
      tags.add(item.value);
    }
    return { ...sweep, tags: [...tags].sort(), span: call.span };
  },
};

const isNull = (value: OverrideValue): boolean => value.kind === "scalar" && value.value === null;
