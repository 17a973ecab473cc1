import { ConfigError, isConfigError } from "../errors.ts";
import type { TextPart } from "../interpolation/ast.ts";
import { parseNode } from "../interpolation/parser.ts";
import { spend } from "../limits.ts";
import { type ConfigNode, checkDepth, isMissing, type Key } from "../node.ts";
import { fullKeyOf, type Place } from "../place.ts";
import { keyText } from "../python-text.ts";
import type { ResolveContext } from "./context.ts";
import { createResolution } from "./evaluate.ts";
import { lazyNode } from "./lazy.ts";
import { cycleError, isInterpolation, type Resolution, selectPlace } from "./resolution.ts";
import { resolveDeep } from "./resolve-tree.ts";

export interface SelectOptions {
  /** Refuse a missing value (`???`); otherwise it counts as absent. Default: false. */
  readonly throwOnMissing?: boolean;
  /** Refuse what cannot be resolved; otherwise it counts as absent. Default: true. */
  readonly throwOnResolutionFailure?: boolean;
  /** What an absent or missing value gives. */
  readonly default?: ConfigNode;
  /** Resolve what is below the selected node too: all of it, or what is read of it. Default: false. */
  readonly deep?: boolean | "lazy";
}

/**
 * `OmegaConf.select`: what stands at a key (`a.b[0]`, `""` for the whole tree), with interpolations
 * on the way and at the end resolved; undefined when nothing does, or when the key leads through a
 * scalar.
 * @throws ConfigError `value.missing`, `key.invalid_type`, or that of an interpolation; its key is
 *   the selected one
 */
export function selectNode(
  root: ConfigNode,
  key: string,
  context: ResolveContext,
  options: SelectOptions = {},
): ConfigNode | undefined {
  const resolution = createResolution(root, context);
  const place = findPlace(resolution, key, options);
  if (place === undefined || isMissing(place.node)) return options.default;
  if (options.deep === "lazy") return lazyNode(resolution, place);
  return options.deep === true ? resolveDeep(resolution, place) : place.node;
}

/**
 * `OmegaConf.can_select`: whether `selectNode` finds a value, whatever it would refuse instead.
 */
export function canSelectNode(
  root: ConfigNode,
  key: string,
  context: ResolveContext,
  options: Pick<SelectOptions, "throwOnMissing"> = {},
): boolean {
  try {
    return selectNode(root, key, context, options) !== undefined;
  } catch (error) {
    if (isConfigError(error)) return false;
    throw error;
  }
}

/**
 * The place that `selectNode` takes its node from; undefined for none.
 * @throws ConfigError as `selectNode`
 */
export function findPlace(
  resolution: Resolution,
  key: string,
  options: Pick<SelectOptions, "throwOnMissing" | "throwOnResolutionFailure">,
): Place | undefined {
  const relative = key.startsWith(".") ? key.slice(1) : key;
  const { absentAboveRoot } = resolution.context.dialect;
  if (relative.startsWith(".") && absentAboveRoot) return undefined;
  if (relative.startsWith("."))
    throw new ConfigError({
      code: "key.not_found",
      message: `Error resolving key '${key}'`,
      key,
    });
  try {
    return selectPlace(resolution, resolution.root, relative, {
      ...options,
      scalarsAreEmpty: true,
    });
  } catch (error) {
    throw isConfigError(error) ? error.askedFor(key) : error;
  }
}

/**
 * The node at a path of keys, resolved, with everything that leads there resolved lazily. Unlike
 * `selectNode` it reaches keys of every type. List indices are bigints.
 * @throws ConfigError `key.not_found`, or that of an interpolation
 */
export function resolveAt(
  root: ConfigNode,
  path: readonly Key[],
  context: ResolveContext,
): ConfigNode {
  const resolution = createResolution(root, context);
  let at = resolution.root;
  for (const key of path) {
    const child = at.result === true ? undefined : resolution.places.child(at, key);
    if (child === undefined)
      throw new ConfigError({
        code: "key.not_found",
        message: `Key not found: '${keyText(key)}'`,
        key: fullKeyOf(at, key),
        origin: at.node.origin,
      });
    at = resolution.dereference(child);
  }
  return at.node;
}

/**
 * `OmegaConf.missing_keys`: the full keys of all missing values, those below interpolations to maps
 * and lists included, under the key where they really stand.
 * @throws ConfigError of an interpolation that cannot be resolved, `limit.values`
 */
export function missingKeys(root: ConfigNode, context: ResolveContext): ReadonlySet<string> {
  const resolution = createResolution(root, context);
  const keys = new Set<string>();
  const done = new Set<Place>();
  const open = new Set<Place>();
  const { refusesToMissing } = context.dialect;
  gather(resolution.root);
  return keys;

  function gather(place: Place): void {
    if (done.has(place)) return;
    checkDepth(open.size, place.node);
    open.add(place);
    const before = resolution.impureCalls();
    for (const key of keysOf(place)) {
      const below = resolution.places.child(place, key);
      if (below === undefined) continue;
      if (isMissing(below.node)) keys.add(fullKeyOf(below));
      else if (!refusesToMissing || !callsResolver(below)) {
        const target = follow(below);
        if (target === undefined) {
          keys.add(fullKeyOf(below));
          continue;
        }
        if (open.has(target)) throw cycleError(below, "Recursive interpolation detected");
        gather(target);
      }
    }
    open.delete(place);
    // What an impure resolver gave is asked for by each reference to what is around it, as everywhere.
    if (resolution.impureCalls() === before) done.add(place);
    else spend(resolution.budget, { values: 1, characters: 0 }, place);
  }

  /** Undefined where a reference leads to a missing value. */
  function follow(place: Place): Place | undefined {
    try {
      return resolution.dereference(place);
    } catch (error) {
      if (refusesToMissing && isToMissing(error)) return undefined;
      throw isConfigError(error) ? error.askedFor(fullKeyOf(place)) : error;
    }
  }
}

/** Whether an interpolation asks a resolver anywhere: OmegaConf does not look at what that would give. */
function callsResolver(place: Place): boolean {
  return isInterpolation(place) && parseNode(place.node).parts.some(usesResolver);
}

function usesResolver(part: TextPart | string): boolean {
  if (typeof part === "string" || part.kind === "literal") return false;
  return part.kind === "resolver" || (part.parts ?? []).some(usesResolver);
}

const isToMissing = (error: unknown): boolean =>
  isConfigError(error) &&
  (error.code === "interpolation.to_missing" || isToMissing(error.details.cause));

function keysOf({ node, result }: Place): readonly Key[] {
  if (result === true) return [];
  if (node.kind === "map") return [...node.entries.values()].map((entry) => entry.key);
  return node.kind === "list" ? node.items.map((_, index) => BigInt(index)) : [];
}
