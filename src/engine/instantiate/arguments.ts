/** The arguments of an instantiation: a call's overrides, merged into the config that is instantiated. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { mergeNodes } from "../values/edit/merge.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { nearestKey } from "../values/key-path.ts";
import {
  type ConfigNode,
  type ContainerNode,
  child,
  isMissing,
  type KeyId,
  keyId,
  type MapEntry,
  type MapNode,
  MISSING,
} from "../values/node.ts";
import { fromCode } from "../values/origin.ts";
import { fullKeyOf, type Place, pathOf, withFlags } from "../values/place.ts";
import { pyTypeName } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { createResolution } from "../values/resolution/evaluate-interpolation.ts";
import {
  isInterpolation,
  type Resolution,
  selectPath,
  tryDereference,
} from "../values/resolution/resolution.ts";
import { resolveDeep, withChildren } from "../values/resolution/resolve-tree.ts";
import { lazyObject } from "../values/resolution/select.ts";
import type { Tree } from "./build-objects.ts";
import { asLazyView, isForeign, isRecord, nodeOf, toTree, untouchedView } from "./view.ts";

export type Overrides = Readonly<Record<string, unknown>>;

/** The part of a config to instantiate, and its arguments. */
export interface Preparation {
  readonly root: ConfigNode;
  /** The keys that lead to that part; none for the whole tree. */
  readonly path: readonly string[];
  /** The same as text, for messages. */
  readonly key: string;
  readonly overrides: Overrides;
  readonly args: readonly unknown[];
  readonly context: ResolveContext;
}

/** The place to instantiate, with the overrides merged; undefined for null. */
export type Prepared = { readonly place: Place; readonly tree: Tree } | undefined;

/** A map or list; undefined for null. */
function container({ node }: Place, key: string): ContainerNode | undefined {
  if (node.kind !== "scalar") return node;
  if (node.value === null && !isForeign(node)) return undefined;
  throw notContainer(node, key);
}

/**
 * Merges the overrides before anything is resolved: relative interpolations see the overrides, those from the root see
 * the original tree. Then everything is resolved in its place in the tree.
 *
 * @throws ConfigError `key.not_found`, `instantiate.invalid`, and of interpolations
 */
export function mergeArguments({ root, path, key, overrides, context }: Preparation): Prepared {
  const resolution = createResolution(root, context);
  const found = find(resolution, path, key);
  const node = container(found, key);
  if (node === undefined) return undefined;
  const merged = node.kind === "map" ? merge(resolution, found, overrides) : node;
  // If the part is the whole tree, the merged node is the new root, so that all interpolations see the overrides.
  const place: Place = { ...found, node: merged };
  const alone = place.parent === null ? createResolution(merged, context) : undefined;
  const resolved = alone
    ? resolveDeep(alone, alone.root, LENIENT)
    : resolveDeep(resolution, place, LENIENT);
  return { place: { ...place, node: resolved }, tree: resolvedTree() };
}

/** Missing values are refused later, where a target needs them. */
const LENIENT = { toMissing: "missing", inPlace: true } as const;

export const resolvedTree = (): Tree => ({
  resolvesOnDemand: false,
  child(parent, key) {
    const node = child(parent.node, key);
    return node === undefined ? undefined : { kind: "place", node, parent, key };
  },
  reach: (place) => place,
  asConfig: ({ node }, convert) =>
    convert === "none" ? (untouchedView(node) as object) : undefined,
});

/**
 * Puts the overrides into a copy of the tree, which all interpolations see. A map replaces the old value, unless the
 * old value is a target or has a declared type: then it is merged over it. Nothing is resolved yet except what decides
 * that.
 *
 * @throws ConfigError `key.not_found`, `instantiate.invalid`, and of interpolations
 */
export function replaceArguments({
  root,
  path,
  key,
  overrides,
  args,
  context,
}: Preparation): Prepared {
  const resolution = createResolution(root, context);
  const found = find(resolution, path, key);
  const node = container(found, key);
  if (node === undefined) return undefined;
  const replacing = args.length === 0 ? overrides : { ...overrides, _args_: args };
  for (const [name, value] of Object.entries(replacing)) checkConcrete(value, name);
  if (node.kind === "list" || Object.keys(replacing).length === 0)
    return { place: found, tree: onDemandTree(resolution, new Map()) };
  const replacements = new Map<ConfigNode, unknown>();
  const origin = fromCode("overrides of instantiate()");
  const nodes = new Map<string, ConfigNode>();
  const isTarget = replacing["_target_"] !== undefined || child(node, "_target_") !== undefined;
  for (const [name, value] of Object.entries(replacing)) {
    const over = toTree(value, origin);
    if (value !== undefined) nodes.set(name, over);
    // Data arguments of a target are passed to it as they are.
    const isData = isTarget && over.kind === "map" && !over.entries.has("_target_");
    if (isData || over.kind === "list") replacements.set(over, value);
  }
  const open = withFlags(node, { struct: false, readonly: false }) as MapNode;
  const copy = (entries: ReadonlyMap<string, ConfigNode>): Copied =>
    copyWith(found, withEntries(open, entries), context);
  const merging = [...nodes].filter(
    ([name, over]) => over.kind === "map" && child(node, name) !== undefined,
  );
  // A merge may depend on the results of others by interpolation: each pass resolves one more level.
  const effective = new Map(nodes);
  for (const _ of merging)
    for (const [name, over] of merging) {
      const written = child(node, name);
      if (written === undefined) continue;
      const { place, resolution: its } = copy(new Map(effective).set(name, written));
      const childPlace = its.places.child(place, name);
      const base = childPlace && mergeBase(its, childPlace, isTarget);
      if (base !== undefined)
        effective.set(name, mergeNodes([expand(its, base, over), over], context));
    }
  const { place, resolution: final } = copy(effective);
  return { place, tree: onDemandTree(final, replacements) };
}

/** The node that a map among the arguments is merged over; undefined where it replaces the old value. */
function mergeBase(resolution: Resolution, place: Place, isTarget: boolean): Place | undefined {
  const base = isTarget && isInterpolation(place) ? tryDereference(resolution, place) : place;
  if (base?.node.kind !== "map") return undefined;
  const merges =
    !isTarget || base.node.type?.kind === "object" || base.node.entries.has("_target_");
  return merges ? base : undefined;
}

interface Copied {
  readonly place: Place;
  readonly resolution: Resolution;
}

/** A copy of the tree with another node at a place. */
function copyWith(source: Place, node: ConfigNode, context: ResolveContext): Copied {
  let root = node;
  for (let place = source; place.parent !== null; place = place.parent) {
    const around = place.parent.node;
    if (place.key === undefined || around.kind === "scalar") continue;
    root = withChildren(around, new Map([[place.key, root]]));
  }
  const resolution = createResolution(root, context);
  let place = resolution.root;
  for (const key of pathOf(source)) place = resolution.places.child(place, key) ?? place;
  return { place, resolution };
}

function withEntries(node: MapNode, values: ReadonlyMap<string, ConfigNode>): MapNode {
  const entries = new Map(node.entries);
  for (const [key, value] of values) entries.set(keyId(key), { key, value });
  return { ...node, entries };
}

/** @throws ConfigError `instantiate.invalid` for unresolved plain data: a missing value or an interpolation */
function checkConcrete(value: unknown, key: string): void {
  if (nodeOf(value) !== undefined) return;
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) checkConcrete(item, `${key}.${index}`);
  else if (isRecord(value))
    for (const [name, item] of Object.entries(value)) checkConcrete(item, `${key}.${name}`);
  if (typeof value !== "string" || (value !== MISSING && !value.includes("${"))) return;
  const what = value === MISSING ? "a missing value" : "an interpolation";
  throw new ConfigError({
    code: "instantiate.invalid",
    message: `The argument '${key}' of the call cannot be ${what}`,
    key,
    hint: "pass the value itself, or a config, in which it may be one",
  });
}

/** A tree whose values are resolved when they are needed. Arguments of the call keep their identity. */
function onDemandTree(
  resolution: Resolution,
  replacements: ReadonlyMap<ConfigNode, unknown>,
): Tree {
  const views = new Map<Place, object>();
  const view = (place: Place): object =>
    lazyObject(resolution, place, { closed: untouchedView, made: asLazyView }) as object;
  return {
    resolvesOnDemand: true,
    child(parent, key) {
      const place = resolution.places.child(parent, key);
      return place !== undefined && parent.result === true ? { ...place, result: true } : place;
    },
    reach(place) {
      try {
        return resolution.dereference(place);
      } catch (error) {
        throw isConfigError(error) ? error.withRequestedKey(fullKeyOf(place)) : error;
      }
    },
    asConfig(place, convert) {
      const replacement = replacements.get(place.node);
      const isConfig = nodeOf(replacement) !== undefined;
      if (replacement !== undefined && (convert === "none" || !isConfig))
        return replacement as object;
      if (convert !== "none") return undefined;
      return getOrCreate(views, place, () => view(place));
    },
  };
}

function find(resolution: Resolution, path: readonly string[], key: string): Place {
  const place = selectPath(resolution, resolution.root, path, {
    throwOnMissing: true,
    scalarsAreEmpty: true,
  });
  if (place !== undefined) return place;
  throw new ConfigError({
    code: "key.not_found",
    message: `Key '${key}' not found in config`,
    key,
    ...nearestKey(resolution.root.node, key),
  });
}

function merge(
  resolution: Resolution,
  place: Place,
  overrides: Readonly<Record<string, unknown>>,
): ConfigNode {
  const open = withFlags(place.node, { struct: false, readonly: false });
  if (Object.keys(overrides).length === 0) return open;
  const over = toTree(overrides, fromCode("overrides of instantiate()"));
  const expanded = expand(resolution, { ...place, node: open }, over);
  return mergeNodes([expanded, over], resolution.context);
}

/** Replaces the interpolations that an override merges into by their targets. */
function expand(resolution: Resolution, place: Place, over: ConfigNode): ConfigNode {
  const target = isInterpolation(place) ? tryDereference(resolution, place) : place;
  if (target === undefined || target.node.kind === "scalar") return place.node;
  if (target.node.kind !== "map" || over.kind !== "map") return target.node;
  const entries = new Map<KeyId, MapEntry>(target.node.entries);
  for (const [id, { value }] of over.entries) {
    const entry = entries.get(id);
    const below = entry && resolution.places.child(target, entry.key);
    if (entry === undefined || below === undefined || value.kind === "scalar") continue;
    entries.set(id, { key: entry.key, value: expand(resolution, below, value) });
  }
  return { ...target.node, entries } satisfies MapNode;
}

const notContainer = (node: ConfigNode, key: string): ConfigError =>
  new ConfigError({
    code: isMissing(node) ? "value.missing" : "instantiate.invalid",
    message: `Cannot instantiate config of type ${pyTypeName(node)}: it must be a map or a list`,
    ...(key !== "" && { key }),
    origin: node.origin,
  });
