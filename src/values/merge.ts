import { assign } from "./assign.ts";
import { type Budget, createBudget } from "./budget.ts";
import { refuseDepth } from "./depth.ts";
import type { Copies, Draft, DraftList, DraftMap } from "./draft.ts";
import { createCopies, draftChild, draftFor, draftRoot, putChild } from "./draft.ts";
import { ConfigError } from "./errors.ts";
import { withFlags } from "./flags.ts";
import type { ResolveContext } from "./interpolation/context.ts";
import { createResolveContext } from "./interpolation/context.ts";
import { isInterpolationNode } from "./interpolation/parse-node.ts";
import { expand } from "./merge-expand.ts";
import {
  incompatible,
  isSpecialScalar,
  refuseInPlaceOfObject,
  refuseOtherObject,
  refuseReference,
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
import { rootPlace } from "./place.ts";
import { readonlyValue, refuseReadonly } from "./readonly.ts";
import { replacing } from "./replaced.ts";
import { convertItem, convertKey, convertNode } from "./types/convert.ts";
import { convertScalar } from "./types/convert-scalar.ts";
import { fitNode } from "./types/fit.ts";
import { madeOf, unsetObject } from "./types/made-of.ts";
import { elementType, isContainerType } from "./types/type-of.ts";
import { withoutStruct } from "./without-struct.ts";

/**
 * `OmegaConf.merge`: later trees over earlier ones. Maps merge key by key and keep the position of
 * known keys; lists and scalars are replaced as a whole; a missing value (`???`) replaces nothing.
 * An interpolation to a map or list is expanded before something is merged over it, which is what
 * the context is needed for. Nodes that were overwritten are kept in `replaced`.
 * @param budget counts what is expanded, of this merge or of all that it is a part of
 * @throws ConfigError `merge.incompatible` (map and list), `value.struct`, `value.readonly`,
 *   `value.wrong_type`, `yaml.depth_limit`, `limit.values`, `limit.characters`
 */
export function mergeNodes(
  nodes: readonly ContainerNode[],
  context?: ResolveContext,
  budget?: Budget,
): ContainerNode;
export function mergeNodes(
  nodes: readonly ConfigNode[],
  context?: ResolveContext,
  budget?: Budget,
): ConfigNode;
export function mergeNodes(
  nodes: readonly ConfigNode[],
  context: ResolveContext = createResolveContext(),
  budget: Budget = createBudget(context.limits),
): ConfigNode {
  const [first, ...others] = nodes;
  if (first === undefined)
    throw new ConfigError({ code: "merge.incompatible", message: "There is nothing to merge" });
  const readonly = first.flags?.readonly;
  // One draft for all layers: a map is copied once, however many of them change it.
  const copies = createCopies(budget);
  let target = withFlags(first, { readonly: false });
  for (const other of others) target = mergeRoot(target, other, { context, copies });
  const turnedReadonly = target.flags?.readonly === true;
  return withFlags(target, { readonly: turnedReadonly ? true : readonly });
}

/**
 * Merges a node over what stands at a draft: `merge_with`, which heeds the flags that hold there.
 * @param ofAnyClass whether an object was made there in place of an interpolation, which asks for no class
 * @throws ConfigError as `mergeNodes`
 */
export const mergeInto = (
  dest: Draft,
  source: ContainerNode,
  context: ResolveContext,
  ofAnyClass = false,
): void =>
  mergeContainer(dest, source, { context, from: null, fromReadonly: false, depth: 0, ofAnyClass });

/** What holds for the merging of one map or list into another. */
interface Merging {
  readonly context: ResolveContext;
  /** What contains the source, in the tree that it came in; null at the root of that. */
  readonly from: Place | null;
  /** Whether what contains the source is read-only, as the source then is by inheritance. */
  readonly fromReadonly: boolean;
  /** How far below the roots. */
  readonly depth: number;
  /** As for `mergeInto`; nor is what is missing asked for its class. */
  readonly ofAnyClass: boolean;
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
  readonly copies: Copies;
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
  if (!merging.ofAnyClass) refuseOtherObject(dest, source);
  // An object of a type that extends this one makes it one of that type: it may bring fields of its own.
  if (target.type?.kind === "object" && source.type?.kind === "object") target.type = source.type;
  const below = inside(source, dest, merging);
  for (const { key, value } of source.entries.values()) mergeChild(dest, key, value, below);
  if (target.type === undefined && source.type !== undefined) target.type = source.type;
  else if (source.type?.kind === "object") target.type = source.type;
  takeFlags(target, source);
}

/** A source has the key of what it is merged into. */
const inside = (source: ContainerNode, { key }: Draft, merging: Merging): Merging => ({
  context: merging.context,
  from:
    merging.from === null || key === undefined
      ? rootPlace(source)
      : { kind: "place", node: source, parent: merging.from, key },
  fromReadonly: source.flags?.readonly ?? merging.fromReadonly,
  depth: merging.depth + 1,
  ofAnyClass: false,
});

function mergeChild(dest: Draft, written: Key, source: ConfigNode, merging: Merging): void {
  const key = knownKey(dest, written, source);
  const old = child(dest.node, key);
  if (old === undefined) {
    add(dest, key, source, merging);
    return;
  }
  const { context, from } = merging;
  refuseInPlaceOfObject(dest, key, old, source);
  if (isInterpolationNode(source) && isContainerType(old.type) && from !== null)
    refuseReference(dest, key, old, source, { from, context });
  const known = expand(dest, key, old, source, context);
  const isMade = source.type?.kind === "object" && isInterpolationNode(old);
  const ofAnyClass = isMade && child(dest.node, key) === old;
  mergeOver(dest, key, known, source, ofAnyClass ? { ...merging, ofAnyClass } : merging);
}

/** The key as a map whose keys have a type knows it: `1` may be the name of a member. */
function knownKey(dest: Draft, key: Key, node: ConfigNode): Key {
  const { type } = dest.node;
  if (type?.kind !== "map") return key;
  return convertKey(type.key, key, { kind: "place", node, parent: dest, key });
}

/** In a new place an object is made before anything is merged into it. Another object brings its fields whatever `struct` says. */
function add(dest: Draft, key: Key, source: ConfigNode, merging: Merging): void {
  const type = elementType(dest.node, key);
  if (type?.kind === "object" && source.kind !== "scalar") {
    const made = madeOf(type, source.origin);
    assign(dest, key, made);
    mergeContainer(draftChild(dest, key, made), source, merging);
  } else if (merging.from?.node.type?.kind === "object")
    withoutStruct(dest, () => assign(dest, key, source));
  else assign(dest, key, source);
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
    if (isMissing(source)) mergeMissing(dest, key, known, source, merging);
    else assign(dest, key, source);
  } else if (source.kind !== "scalar") assign(dest, key, source);
  else if (known.type !== undefined) mergeTypedScalar(dest, key, known, source);
  else if (isMissing(source)) keep(dest, key, known, source, merging);
  else assign(dest, key, source);
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
  const below = inside(source, dest, merging);
  const items = source.items.map((item, index) => {
    const key = BigInt(index);
    const at: Place = { kind: "place", node: item, parent: dest, key };
    refuseReadonly(dest, at);
    if (type?.kind !== "list") return item;
    if (type.element.kind !== "object") return convertItem(type.element, item, at);
    const given = isMissing(item) ? ofMissing(item) : item;
    if (given?.kind !== "map") return convertItem(type.element, item, at);
    const made = draftFor(dest, key, madeOf(type.element, item.origin));
    mergeContainer(made, given, item.kind === "map" ? below : { ...below, ofAnyClass: true });
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

/** A missing value leaves what stands there, and gives it what its own type has: fields of an object, or a type of entries. */
function mergeMissing(
  dest: Draft,
  key: Key,
  known: ContainerNode,
  source: ConfigNode,
  merging: Merging,
): void {
  const { type } = source;
  if (type?.kind === "object")
    mergeContainer(draftChild(dest, key, known), unsetObject(type, source.origin), {
      ...merging,
      ofAnyClass: true,
    });
  if (known.kind !== "map" || known.type !== undefined || type?.kind !== "map") return;
  const at: Place = { kind: "place", node: known, parent: dest, key };
  putChild(dest, key, fitNode(type, known, at));
}

/** What is merged into a new object of a list for a missing item that was declared as a map. */
function ofMissing({ type, origin }: ConfigNode): MapNode | undefined {
  if (type?.kind === "object") return unsetObject(type, origin);
  return type?.kind === "map" ? map([], origin) : undefined;
}
