/** What a resolver is, and the resolver of a plain function. */
import { plural } from "../../../foundation/text/plural.ts";
import {
  checkOptions,
  checkText,
  fn,
  type OptionChecks,
  optional,
  trueOrFalse,
} from "../check-options.ts";
import type { Dialect } from "../dialect.ts";
import { isConfigError } from "../errors.ts";
import { type Budget, createBudget, type Limits, spend } from "../limits.ts";
import { type ConfigNode, type Key, MISSING, type ScalarValue, scalar } from "../node.ts";
import { fromCode } from "../origin.ts";
import type { Place } from "../place.ts";
import { fromObject, toObject } from "../plain-objects.ts";

/**
 * A function that interpolations call: `${name:arg,…}`. The name may have dots in it (a namespace).
 *
 * The result is used as it is: interpolations in a returned map, list or string are not
 * resolved, and `${here.key}` cannot select into it. A resolver that makes a part of the
 * configuration returns a place instead: `call.create(node)`, or what `call.select` found.
 */
export interface Resolver {
  readonly name: string;
  /**
   * Call it once per context and source text of its arguments; later uses get the first result. `${f:${x}}` is not
   * called again when `x` has changed.
   */
  readonly useCache?: boolean;
  /**
   * Promises that equal arguments in the same tree give equal results without side effects, so
   * that one evaluation may serve several references. Otherwise each reference calls it again.
   */
  readonly pure?: boolean;
  /** Anything thrown becomes `resolver.failed`, unless it is an error of an interpolation. */
  resolve(args: readonly ResolverArgument[], call: ResolverCall): Place | ConfigNode | ScalarValue;
}

/**
 * An evaluated argument: `node` is its value. An argument that refers to a map or list has the place of that node in
 * the tree.
 */
export type ResolverArgument = Place;

/** Everything besides the tree that the resolution of interpolations depends on. */
export interface ResolveContext {
  readonly resolvers: ReadonlyMap<string, Resolver>;
  /** Results of resolvers with `useCache`, by name and source text of the arguments. */
  readonly cache: Map<string, Place>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How much one operation may add to the written values. */
  readonly limits: Limits;
  /** The version of Hydra whose behaviour applies where versions differ. */
  readonly dialect: Dialect;
  /** Receives the warnings of resolvers (`oc.deprecated`). */
  warn(message: string): void;
  /** Called for each use of a resolver, whose result may differ the next time. */
  readonly onResolverCall?: () => void;
  /**
   * Whether an interpolation declared as a map, list, object or union must lead to one when it is read, as for a
   * program's settings. Default: false; OmegaConf checks it only when the value is written.
   */
  readonly declared?: boolean;
  /** What would set a key besides config files and overrides, for errors about missing values: `environment variable APP_PORT`. */
  readonly settersOf?: (path: readonly string[]) => readonly string[];
}

/** The place of a call, and what the resolver may look up. */
export interface ResolverCall {
  /** The map or list that holds the interpolation. */
  readonly parent: ConfigNode;
  readonly root: ConfigNode;
  /** The scalar that holds the interpolation. */
  readonly node: ConfigNode;
  /** The path of that scalar from the root. */
  readonly path: readonly Key[];
  readonly context: ResolveContext;
  /** The full key of a place, by default of the scalar that holds the interpolation. */
  fullKey(place?: Place): string;
  /**
   * The resolved place at a key, or undefined. The key starts at the root, or with a leading dot at `parent`, as in
   * interpolations.
   * @throws ConfigError when something on the path cannot be resolved
   */
  select(key: string, options?: { readonly throwOnMissing?: boolean }): Place | undefined;
  /**
   * The resolved place at a key, or undefined, as `OmegaConf.select` finds it from a map or list of another tree, whose
   * interpolations refer to that tree. One leading dot means nothing, each further one leads a level up.
   * @throws ConfigError as `select`
   */
  selectIn(tree: ConfigNode, path: readonly Key[], key: string): Place | undefined;
  /** A child of a map or list among the arguments, resolved; undefined when there is none. */
  child(container: Place, key: Key): Place | undefined;
  /** Evaluates a text by the grammar of resolver arguments, as if it were written at `node`. */
  evaluate(text: string): Place;
  /** Makes a node a part of the configuration below `parent`: its interpolations are resolved there. */
  create(node: ConfigNode): Place;
}

/**
 * A resolver of plain data, as `OmegaConf.register_new_resolver` makes one of a function:
 * `resolver("plus_10", (x: number) => x + 10)` for `${plus_10:${lr}}`. Maps and lists arrive with their
 * interpolations resolved, and may be returned; whole numbers that are returned are ints. A resolver that
 * needs exact types, or the surroundings of its interpolation, is written as a `Resolver`.
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
      // `length` does not count optional parameters.
      const least = make.length;
      if (args.length < least)
        throw new TypeError(`${args.length} of at least ${plural(least, "argument")} given`);
      const plainArguments: readonly unknown[] = args.map((arg) =>
        toObject(resolved(arg, call, budget)),
      );
      return returned(make(...(plainArguments as Arguments)), name);
    },
  };
}

const CACHING_OPTIONS: OptionChecks<Pick<Resolver, "useCache" | "pure">> = {
  useCache: optional(trueOrFalse),
  pure: optional(trueOrFalse),
};

/**
 * The argument with its interpolations resolved; those of a map or list are resolved at its place in the tree.
 * @param budget counts what references add, where `referred` says that a reference led here
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
