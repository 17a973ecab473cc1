import { assign } from "./assign.ts";
import { refuseDepth } from "./depth.ts";
import type { Draft, DraftList, DraftMap } from "./draft.ts";
import { draftChild, draftFor, draftRoot, putChild, snapshot } from "./draft.ts";
import { ConfigError } from "./errors.ts";
import { withFlags } from "./flags.ts";
import type { ResolveContext } from "./interpolation/context.ts";
import { createResolveContext } from "./interpolation/context.ts";
import { createResolution } from "./interpolation/create-resolution.ts";
import { outlookOf } from "./interpolation/outlook.ts";
import type { InterpolationNode } from "./interpolation/resolution.ts";
import { isInterpolationNode, tryDereference } from "./interpolation/resolution.ts";
import {
  incompatible,
  isSpecialScalar,
  refuseInPlaceOfField,
  refuseInPlaceOfMissing,
  refuseInPlaceOfObject,
  refuseOtherObject,
} from "./merge-refusals.ts";
import type {
  ConfigNode,
  ContainerNode,
  Key,
  ListNode,
  MapNode,
  NodeFlags,
  ScalarNode,
} from "./node.ts";
import { child, isMissing, list, map } from "./node.ts";
import type { Place } from "./place.ts";
import { pathOf, rootOf } from "./place.ts";
import { readonlyValue, refuseReadonly } from "./readonly.ts";
import { replacing } from "./replaced.ts";
import { convertItem, convertNode } from "./types/convert.ts";
import { convertScalar } from "./types/convert-scalar.ts";
import { fitNode } from "./types/fit.ts";
import { madeOf } from "./types/made-of.ts";
import { elementType, isContainerType } from "./types/type-of.ts";
import { notOfClass } from "./types/wrong-type.ts";

/**
 * `OmegaConf.merge`: later trees over earlier ones. Maps merge key by key and keep the position of
 * known keys; lists and scalars are replaced as a whole; a missing value (`???`) replaces nothing.
 * An interpolation to a map or list is expanded before something is merged over it, which is what
 * the context is needed for. Nodes that were overwritten are kept in `replaced`.
 * @throws ConfigError `merge.incompatible` (map and list), `value.struct`, `value.readonly`,
 *   `value.wrong_type`, `yaml.depth_limit`
 */
export function mergeNodes(
  nodes: readonly ContainerNode[],
  context?: ResolveContext,
): ContainerNode;
export function mergeNodes(nodes: readonly ConfigNode[], context?: ResolveContext): ConfigNode;
export function mergeNodes(
  nodes: readonly ConfigNode[],
  context: ResolveContext = createResolveContext(),
): ConfigNode {
  const [first, ...others] = nodes;
  if (first === undefined)
    throw new ConfigError({ code: "merge.incompatible", message: "There is nothing to merge" });
  const readonly = first.flags?.readonly;
  // One draft for all layers: a map is copied once, however many of them change it.
  const copies = new Set<ConfigNode>();
  let target = withFlags(first, { readonly: false });
  for (const other of others) target = mergeRoot(target, other, { context, copies });
  const turnedReadonly = target.flags?.readonly === true;
  return withFlags(target, { readonly: turnedReadonly ? true : readonly });
}

/**
 * Merges a node over what stands at a draft: `merge_with`, which heeds the flags that hold there.
 * @throws ConfigError as `mergeNodes`
 */
export const mergeInto = (dest: Draft, source: ContainerNode, context: ResolveContext): void =>
  mergeContainer(dest, source, { context, fromReadonly: false, depth: 0 });

/** What holds for the merging of one map or list into another. */
interface Merging {
  readonly context: ResolveContext;
  /** Whether what contains the source is read-only, as the source then is by inheritance. */
  readonly fromReadonly: boolean;
  /** How far below the roots. */
  readonly depth: number;
}

function mergeContainer(dest: Draft, source: ContainerNode, merging: Merging): void {
  refuseDepth(merging.depth, source);
  if (dest.node.kind === "map" && source.kind === "map") mergeMap(dest, dest.node, source, merging);
  else if (dest.node.kind === "list" && source.kind === "list")
    mergeList(dest, dest.node, source, merging);
  else throw incompatible(dest, source);
}

/** What holds for the merging of all trees. */
interface Layering {
  readonly context: ResolveContext;
  readonly copies: Set<ConfigNode>;
}

function mergeRoot(target: ConfigNode, source: ConfigNode, layering: Layering): ConfigNode {
  if (target.kind === "scalar" || source.kind === "scalar")
    return mergeSpecialRoot(target, source, layering);
  const root = draftRoot(target, layering.copies);
  mergeInto(root, source, layering.context);
  return root.node;
}

/** A root that is null, missing or an interpolation as a whole. */
function mergeSpecialRoot(target: ConfigNode, source: ConfigNode, layering: Layering): ConfigNode {
  if (!isSpecial(target) || !isSpecial(source))
    throw incompatible({ ...NOWHERE, node: target }, source);
  if (source.kind === "scalar") return isMissing(source) ? target : replacing(source, target);
  const empty = source.kind === "map" ? map([], target.origin) : list([], target.origin);
  return mergeRoot(empty, source, layering);
}

const NOWHERE = { kind: "place", parent: null } as const;

const isSpecial = (node: ConfigNode): boolean => node.kind !== "scalar" || isSpecialScalar(node);

function mergeMap(dest: Draft, target: DraftMap, source: MapNode, merging: Merging): void {
  refuseOtherObject(dest, source);
  // An object of a type that extends this one makes it one of that type: it may bring fields of its own.
  if (target.type?.kind === "object" && source.type?.kind === "object") target.type = source.type;
  const below = inside(source, merging);
  for (const { key, value } of source.entries.values()) mergeChild(dest, key, value, below);
  if (target.type === undefined && source.type !== undefined) target.type = source.type;
  else if (source.type?.kind === "object") target.type = source.type;
  takeFlags(target, source);
}

const inside = (source: ContainerNode, merging: Merging): Merging => ({
  context: merging.context,
  fromReadonly: source.flags?.readonly ?? merging.fromReadonly,
  depth: merging.depth + 1,
});

function mergeChild(dest: Draft, key: Key, source: ConfigNode, merging: Merging): void {
  const old = child(dest.node, key);
  if (old === undefined) add(dest, key, source, merging);
  else {
    refuseInPlaceOfObject(dest, key, old, source);
    mergeOver(dest, key, expand(dest, key, old, source, merging.context), source, merging);
  }
}

/** In a new place an object is made before anything is merged into it. */
function add(dest: Draft, key: Key, source: ConfigNode, merging: Merging): void {
  const type = elementType(dest.node, key);
  if (type?.kind === "object" && source.kind !== "scalar") {
    const made = madeOf(type, source.origin);
    assign(dest, key, made);
    mergeContainer(draftChild(dest, key, made), source, merging);
  } else assign(dest, key, source);
}

function mergeOver(
  dest: Draft,
  key: Key,
  known: ConfigNode,
  source: ConfigNode,
  merging: Merging,
): void {
  if (known.kind !== "scalar" && source.kind !== "scalar")
    mergeContainer(draftChild(dest, key, known), source, merging);
  else if (known.kind !== "scalar") {
    if (isMissing(source)) takeType(dest, key, known, source);
    else assign(dest, key, source);
  } else if (source.kind !== "scalar") assign(dest, key, source);
  else if (known.type !== undefined) mergeTypedScalar(dest, key, known, source);
  else if (isMissing(source)) keep(dest, key, known, source, merging);
  else assign(dest, key, source);
}

/**
 * What the child has to be before something can be merged over it: the map or list that its
 * interpolation leads to, or an empty one where its type says so and it is still null or missing.
 */
function expand(
  dest: Draft,
  key: Key,
  old: ConfigNode,
  source: ConfigNode,
  context: ResolveContext,
): ConfigNode {
  if (old.kind !== "scalar") return old;
  if (isInterpolationNode(old) && isExpanded(dest, key, old, source)) {
    const target = followFromRoot(dest, key, context);
    if (target !== undefined && target.node.kind !== "scalar" && target.result !== true) {
      assign(dest, key, snapshot(target.node, dest.copies));
      refuseInPlaceOfField(dest, key, target, source);
      return child(dest.node, key) ?? old;
    }
  }
  if (old.type === undefined || !isContainerType(old.type) || source.kind === "scalar") return old;
  const at: Place = { kind: "place", node: source, parent: dest, key };
  const made = madeOf(old.type, old.origin);
  if (made.kind === "map" && source.kind === "list")
    throw isMissing(old)
      ? notOfClass(old.type, source, at)
      : incompatible({ ...at, node: made }, source);
  refuseInPlaceOfMissing(at, old, source);
  return made;
}

/**
 * Whether what stands there has to be followed: for a scalar that takes its place only what has a type
 * can make a difference.
 */
function isExpanded(dest: Draft, key: Key, old: InterpolationNode, source: ConfigNode): boolean {
  const outlook = outlookOf(old, { kind: "place", node: old, parent: dest, key });
  if (outlook === "any container") return true;
  const isReplaced =
    source.kind === "scalar" &&
    !isMissing(source) &&
    old.type === undefined &&
    elementType(dest.node, key) === undefined;
  return outlook === "untyped container" && !isReplaced;
}

function followFromRoot(dest: Draft, key: Key, context: ResolveContext): Place | undefined {
  const resolution = createResolution(rootOf(dest).node, context);
  let at: Place | undefined = resolution.root;
  for (const step of [...pathOf(dest), key])
    at = at === undefined ? undefined : resolution.places.child(at, step);
  return at === undefined ? undefined : tryDereference(resolution, withoutWideType(at));
}

/** Whether a map or list fits the type of one, or a union, is seen when it is written, not when it is followed. */
function withoutWideType(place: Place): Place {
  const { type, ...node } = place.node;
  return isContainerType(type) || type?.kind === "union" ? { ...place, node } : place;
}

function mergeTypedScalar(dest: Draft, key: Key, known: ScalarNode, source: ScalarNode): void {
  if (isMissing(source)) return;
  const at: Place = { kind: "place", node: source, parent: dest, key };
  refuseReadonly(dest, at);
  const { type } = known;
  const typed = type === undefined ? source : convertNode(type, source, at);
  putChild(dest, key, replacing(typed, known));
}

/**
 * A missing value over an untyped one keeps it, but it must fit the type of the missing one. Keeping
 * is a write all the same, and one to the missing node too: OmegaConf tries the value on it.
 */
function keep(
  dest: Draft,
  key: Key,
  known: ScalarNode,
  source: ScalarNode,
  merging: Merging,
): void {
  const at: Place = { kind: "place", node: known, parent: dest, key };
  if (source.flags?.readonly ?? merging.fromReadonly) throw readonlyValue(at);
  refuseReadonly(dest, at);
  if (source.type !== undefined) putChild(dest, key, convertScalar(source.type, known, at));
}

function mergeList(dest: Draft, target: DraftList, source: ListNode, merging: Merging): void {
  const { type } = target;
  const below = inside(source, merging);
  const items = source.items.map((item, index) => {
    const key = BigInt(index);
    const at: Place = { kind: "place", node: item, parent: dest, key };
    refuseReadonly(dest, at);
    if (type?.kind !== "list") return item;
    if (type.element.kind !== "object" || item.kind !== "map")
      return convertItem(type.element, item, at);
    const made = draftFor(dest, key, madeOf(type.element, item.origin));
    mergeContainer(made, item, below);
    return made.node;
  });
  const before = { ...target };
  target.items = items;
  target.origin = source.origin;
  target.replaced = before;
  takeFlags(target, source);
}

/** Flags that the source sets itself win over those of the target. */
function takeFlags(target: DraftMap | DraftList, source: ConfigNode): void {
  if (source.flags === undefined) return;
  const flags: NodeFlags = { ...target.flags, ...source.flags };
  target.flags = flags;
}

/** A missing value leaves what stands there, and gives a map that has no type its own. */
function takeType(dest: Draft, key: Key, known: ContainerNode, { type }: ConfigNode): void {
  if (known.kind !== "map" || known.type !== undefined || type?.kind !== "map") return;
  const at: Place = { kind: "place", node: known, parent: dest, key };
  putChild(dest, key, fitNode(type, known, at));
}
