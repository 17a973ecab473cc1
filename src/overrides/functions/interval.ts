import { NUMBER } from "./accept.ts";
import type { OverrideFunction } from "./function.ts";
import { numberOf, toFloat } from "./numbers.ts";

/** `interval(start,end)`: the floats from start up to, but not including, end. */
export const interval: OverrideFunction = {
  name: "interval",
  parameters: {
    named: [
      { name: "start", accepts: NUMBER, required: true },
      { name: "end", accepts: NUMBER, required: true },
    ],
  },
  evaluate(args, call) {
    const start = toFloat(numberOf(args.get("start")) ?? 0n, call);
    const end = toFloat(numberOf(args.get("end")) ?? 0n, call);
    return { kind: "interval", start, end, tags: [], span: call.span };
  },
};
