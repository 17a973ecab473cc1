import type { OverrideValue, RangeSweep } from "../ast.ts";
import { BOOL, CHOICE_RANGE_OR_NULL, ELEMENT_CHOICE_OR_RANGE, LIST_OR_NULL } from "./accept.ts";
import type { Call, OverrideFunction } from "./function.ts";
import { fail } from "./function.ts";
import { absolute, add, negate } from "./numbers.ts";
import { pythonSorted } from "./python-sort.ts";
import { singleInput } from "./shuffle.ts";
import { simpleChoice } from "./simple-choice.ts";

/** `sort(3,1,2)`, `sort(choice(b,a))`, `sort([3,1],reverse=true)`, `sort(range(3))`. */
export const sort: OverrideFunction = {
  name: "sort",
  parameters: {
    rest: ELEMENT_CHOICE_OR_RANGE,
    named: [
      { name: "sweep", accepts: CHOICE_RANGE_OR_NULL },
      { name: "list", accepts: LIST_OR_NULL },
      { name: "reverse", accepts: BOOL },
    ],
  },
  evaluate(args, call) {
    const flag = args.get("reverse");
    const reverse = flag?.kind === "scalar" && flag.value === true;
    const input = singleInput(args) ?? sortableChoice(args.rest, call);
    const { span } = call;
    if (input.kind === "range") return { ...sortRange(input, reverse, call), span };
    if (input.kind === "choice" || input.kind === "list")
      return { ...input, items: pythonSorted(input.items, reverse, call), span };
    return input;
  },
};

function sortableChoice(items: readonly OverrideValue[], call: Call) {
  if (items.length === 0) fail(call, "there is nothing to sort");
  if (items.some((item) => item.kind !== "scalar"))
    fail(call, "several arguments must be numbers or strings");
  return simpleChoice(items, call);
}

/**
 * Hydra does not sort the values of a range but exchanges its bounds, which gives other numbers
 * when they do not lie on the step: `sort(range(10,0,-3))` is 3, 6, 9, 12.
 */
function sortRange(range: RangeSweep, reverse: boolean, call: Call): RangeSweep {
  const { start, stop, step } = range;
  const wrongWay = reverse ? start < stop : start > stop;
  if (!wrongWay) return range;
  const shift = reverse ? negate(absolute(step)) : absolute(step);
  return {
    ...range,
    start: add(stop, shift, call),
    stop: add(start, shift, call),
    step: negate(step),
  };
}
