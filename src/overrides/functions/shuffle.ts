import type { OverrideValue } from "../ast.ts";
import { CHOICE_RANGE_OR_NULL, ELEMENT_CHOICE_OR_RANGE, LIST_OR_NULL } from "./accept.ts";
import type { BoundArguments, OverrideFunction } from "./function.ts";
import { shuffled } from "./random-order.ts";
import { simpleChoice } from "./simple-choice.ts";

/**
 * `shuffle(a,b)`, `shuffle(choice(a,b))`, `shuffle(range(3))`: the sweep in an order drawn when it
 * is enumerated. `shuffle([a,b])` is no sweep but a list, shuffled at once.
 */
export const shuffle: OverrideFunction = {
  name: "shuffle",
  parameters: {
    rest: ELEMENT_CHOICE_OR_RANGE,
    named: [
      { name: "sweep", accepts: CHOICE_RANGE_OR_NULL },
      { name: "list", accepts: LIST_OR_NULL },
    ],
  },
  evaluate(args, call) {
    const input = singleInput(args);
    if (input === null) return { ...simpleChoice(args.rest, call), shuffle: true };
    const { span, random } = call;
    if (input.kind === "choice" || input.kind === "range") return { ...input, shuffle: true, span };
    if (input.kind === "list") return { kind: "list", items: shuffled(input.items, random), span };
    return { kind: "list", items: [input], span };
  },
};

/** `list=`, else `sweep=`, else the only positional argument; null when there are several or none. */
export function singleInput({ rest, get }: BoundArguments): OverrideValue | null {
  const named = [get("list"), get("sweep")].find(
    (value) => value !== undefined && !(value.kind === "scalar" && value.value === null),
  );
  if (named !== undefined) return named;
  const [only] = rest;
  return rest.length === 1 && only !== undefined ? only : null;
}
