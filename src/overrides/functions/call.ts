import { nearest } from "../../values/nearest.ts";
import type { OverrideValue } from "../ast.ts";
import { functionError } from "../errors.ts";
import { textHint } from "../hints.ts";
import type { GivenArguments } from "./bind.ts";
import { bindArguments } from "./bind.ts";
import type { Call } from "./function.ts";

/** Calls a function by name. Throws ConfigError `override.function`. */
export function callFunction(name: string, given: GivenArguments, call: Call): OverrideValue {
  const definition = call.functions.get(name);
  if (definition === undefined) throw unknownFunction(name, call);
  const args = bindArguments(definition.parameters, given, call);
  return definition.evaluate(args, call);
}

function unknownFunction(name: string, { source, span, functions }: Call) {
  const available = [...functions.keys()].sort();
  const similar = nearest(name.toLowerCase(), available);
  return functionError(source, span, `there is no function '${name}'`, {
    available,
    ...(similar !== undefined ? { nearest: similar } : { hint: textHint(source.text, span) }),
  });
}
