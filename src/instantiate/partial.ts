import { isRecord } from "./foreign.ts";
import type { NamedArguments, ResolvedTarget } from "./target.ts";

/**
 * What `_partial_: true` gives, as `functools.partial`: a function that calls the target with the
 * arguments of the config and those of its call. Positional ones follow the config's; a plain object
 * at the end is named arguments, which win over the config's.
 */
export type Partial = (...args: readonly unknown[]) => unknown;

/** @param failure turns what the target throws into the error of its config */
export function partialOf(
  target: ResolvedTarget,
  args: readonly unknown[],
  named: NamedArguments,
  failure: (error: unknown) => Error,
): Partial {
  const call: Partial = (...more) => {
    const last = more.at(-1);
    const isNamed = isRecord(last);
    const positional = isNamed ? more.slice(0, -1) : more;
    try {
      return target.invoke([...args, ...positional], isNamed ? { ...named, ...last } : named);
    } catch (error) {
      throw failure(error);
    }
  };
  return Object.defineProperty(call, "name", { value: `partial(${target.name})` });
}
