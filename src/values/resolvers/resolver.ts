import type { ResolveContext } from "../interpolation/context.ts";
import type { ConfigNode, Key, ScalarValue } from "../node.ts";
import type { Place } from "../place.ts";

/**
 * A function that interpolations call: `${name:arg,…}`. The name may have dots in it (a namespace).
 *
 * What it returns is taken as it stands: interpolations in a returned map, list or string are not
 * resolved, and `${here.key}` cannot select into it. A resolver that makes a part of the
 * configuration returns a place instead: `call.create(node)`, or what `call.select` found.
 */
export interface Resolver {
  readonly name: string;
  /**
   * Call it once per context and spelling of its arguments; later uses get the first result. The
   * spelling is what counts: `${f:${x}}` is not called again when `x` has changed.
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
 * An evaluated argument: `node` is its value. Where it came from a reference to a map or list it is
 * still the one that stands in the tree.
 */
export type ResolverArgument = Place;

/** Where a resolver was called from, and what it may ask. */
export interface ResolverCall {
  /** The map or list that holds the interpolation. */
  readonly parent: ConfigNode;
  readonly root: ConfigNode;
  /** The scalar that holds the interpolation. */
  readonly node: ConfigNode;
  /** Where that scalar stands, from the root. */
  readonly path: readonly Key[];
  readonly context: ResolveContext;
  /** The full key of a place, by default of the scalar that holds the interpolation. */
  fullKey(place?: Place): string;
  /**
   * What stands at a key, resolved, or undefined: from the root, or with a leading dot from
   * `parent`, as in interpolations.
   * @throws ConfigError when something on the way cannot be resolved
   */
  select(key: string, options?: { readonly throwOnMissing?: boolean }): Place | undefined;
  /**
   * What stands at a key, resolved, or undefined: as `OmegaConf.select` finds it from a map or list of
   * another tree, whose interpolations refer to that tree. A dot before the key means nothing, each
   * further one leads a level up.
   * @throws ConfigError as `select`
   */
  selectIn(tree: ConfigNode, path: readonly Key[], key: string): Place | undefined;
  /** A child of a map or list among the arguments, resolved; undefined when there is none. */
  child(container: Place, key: Key): Place | undefined;
  /** Evaluates a text by the grammar of resolver arguments, as if it stood at `node`. */
  evaluate(text: string): Place;
  /** Makes a node a part of the configuration below `parent`: its interpolations will count. */
  create(node: ConfigNode): Place;
}
