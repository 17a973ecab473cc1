import { plural } from "../../text/plural.ts";
import { type Budget, createBudget, spend } from "../budget.ts";
import { checkText } from "../check-arguments.ts";
import { checkOptions, type OptionChecks } from "../check-options.ts";
import { isConfigError } from "../errors.ts";
import { fromObject } from "../from-object.ts";
import { type ConfigNode, type Key, MISSING, scalar } from "../node.ts";
import { fn, optional, trueOrFalse } from "../option-kinds.ts";
import { fromCode } from "../origin.ts";
import type { Place } from "../place.ts";
import { toObject } from "../to-object.ts";
import type { Resolver, ResolverCall } from "./resolver.ts";

/**
 * A resolver of plain data, as `OmegaConf.register_new_resolver` makes one of a function:
 * `resolver("plus_10", (x: number) => x + 10)` for `${plus_10:${lr}}`. Maps and lists arrive with their
 * interpolations resolved, and may be returned; whole numbers that are returned are ints. A resolver that
 * needs exact types, or what stands around its interpolation, is written as a `Resolver`.
 *
 * @param options as in a `Resolver`
 * @throws ConfigError `value.wrong_type` for arguments that the types do not allow
 */
export function resolver<Arguments extends readonly unknown[]>(
  name: string,
  make: (...args: Arguments) => unknown,
  options: Pick<Resolver, "useCache" | "pure"> = {},
): Resolver {
  checkText("resolver", "the name", name);
  fn("resolver", "the second argument", make);
  checkOptions("resolver", options, CACHING_OPTIONS);
  return {
    ...options,
    name,
    resolve(args, call) {
      const budget = createBudget(call.context.limits);
      // Optional parameters do not count.
      const least = make.length;
      if (args.length < least)
        throw new TypeError(`${args.length} of at least ${plural(least, "argument")} given`);
      const given: readonly unknown[] = args.map((arg) => toObject(resolved(arg, call, budget)));
      return returned(make(...(given as Arguments)), name);
    },
  };
}

const CACHING_OPTIONS: OptionChecks<Pick<Resolver, "useCache" | "pure">> = {
  useCache: optional(trueOrFalse),
  pure: optional(trueOrFalse),
};

/**
 * What an argument refers to in a map or list is resolved where it stands.
 * @param budget counts what such references add, where `referred` says that one led here
 */
function resolved(place: Place, call: ResolverCall, budget: Budget, referred = false): ConfigNode {
  const { node } = place;
  if (referred) spend(budget, { values: 1, characters: 0 }, place);
  if (node.kind === "scalar") return node;
  const below = (key: Key, written: ConfigNode): ConfigNode => {
    const found = call.child(place, key);
    if (found === undefined) return scalar(MISSING, node.origin);
    return resolved(found, call, budget, referred || found.node !== written);
  };
  if (node.kind === "list")
    return { ...node, items: node.items.map((item, index) => below(BigInt(index), item)) };
  const entries = [...node.entries].map(
    ([id, entry]) => [id, { ...entry, value: below(entry.key, entry.value) }] as const,
  );
  return { ...node, entries: new Map(entries) };
}

function returned(value: unknown, name: string): ConfigNode {
  try {
    return fromObject(value, fromCode(`resolver ${name}`));
  } catch (cause) {
    if (!isConfigError(cause)) throw cause;
    throw new TypeError(`it returned a value that no config can hold: ${cause.message}`, { cause });
  }
}
