import { NUMBER, NUMBER_OR_NULL } from "./accept.ts";
import type { OverrideFunction } from "./function.ts";
import { numberOf } from "./numbers.ts";

/** `range(stop)`, `range(start,stop)` and `range(start,stop,step)`; the stop is excluded. */
export const range: OverrideFunction = {
  name: "range",
  parameters: {
    named: [
      { name: "start", accepts: NUMBER, required: true },
      { name: "stop", accepts: NUMBER_OR_NULL },
      { name: "step", accepts: NUMBER },
    ],
  },
  evaluate(args, { span }) {
    const start = numberOf(args.get("start")) ?? 0n;
    const stop = numberOf(args.get("stop"));
    const step = numberOf(args.get("step")) ?? 1n;
    const bounds = stop === null ? { start: 0n, stop: start } : { start, stop };
    return { kind: "range", ...bounds, step, shuffle: false, tags: [], span };
  },
};
