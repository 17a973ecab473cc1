import { ConfigError } from "../errors.ts";
import { type InterpolationNode, isInterpolationNode } from "../interpolation/parser.ts";
import { suggesting } from "../key-path.ts";
import { type Budget, createBudget, sizeOf, spend } from "../limits.ts";
import {
  type ConfigNode,
  type ContainerNode,
  checkDepth,
  child,
  elementType,
  emptyContainer,
  isContainerType,
  isMissing,
  type Key,
  type ListNode,
  list,
  type MapNode,
  map,
  type NodeFlags,
  type NodeType,
  type ScalarNode,
  unsetObject,
} from "../node.ts";
import { checkNotReadonly, type Place, readonlyError, rootPlace, withFlags } from "../place.ts";
import { createResolveContext, type ResolveContext } from "../resolution/context.ts";
import { staticKind } from "../resolution/resolution.ts";
import { convertItem, convertKey, convertNode } from "../types/convert.ts";
import { convertScalar, fitNode } from "../types/convert-scalar.ts";
import { notOfClass } from "../types/type-errors.ts";
import {
  assign,
  checkReference,
  checkReplacesField,
  checkReplacesMissing,
  checkReplacesObject,
  checkSameClass,
  incompatible,
  isSpecialScalar,
  replacing,
} from "./assign.ts";
import {
  type Copies,
  createCopies,
  type Draft,
  type DraftList,
  type DraftMap,
  draftChild,
  draftFor,
  draftRoot,
  putChild,
  snapshot,
  tryFollow,
} from "./draft.ts";

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
  for (const other of others)
    target = suggesting(context.dialect, () => mergeRoot(target, other, { context, copies }));
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
  checkDepth(merging.depth, source);
  if (dest.node.kind === "map" && source.kind === "map") mergeMap(dest, dest.node, source, merging);
  else if (dest.node.kind === "list" && source.kind === "list")
    mergeList(dest, dest.node, source, merging);
  else throw incompatible(dest, source, merging.context.dialect);
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
    throw incompatible({ ...NOWHERE, node: target }, source, layering.context.dialect);
  if (source.kind === "scalar") return isMissing(source) ? target : replacing(source, target);
  const empty = source.kind === "map" ? map([], target.origin) : list([], target.origin);
  return mergeRoot(empty, source, layering);
}

const NOWHERE = { kind: "place", parent: null } as const;

const isSpecial = (node: ConfigNode): boolean => node.kind !== "scalar" || isSpecialScalar(node);

function mergeMap(dest: Draft, target: DraftMap, source: MapNode, merging: Merging): void {
  if (!merging.ofAnyClass) checkSameClass(dest, source);
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
  checkReplacesObject(dest, key, old, source);
  if (isInterpolationNode(source) && isContainerType(old.type) && from !== null)
    checkReference(dest, key, old, source, { from, context });
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
    const made = emptyContainer(type, source.origin);
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
  checkNotReadonly(dest, at);
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
  if (source.flags?.readonly ?? merging.fromReadonly) throw readonlyError(at);
  checkNotReadonly(dest, at);
  if (source.type !== undefined) putChild(dest, key, convertScalar(source.type, known, at));
}

function mergeList(dest: Draft, target: DraftList, source: ListNode, merging: Merging): void {
  const { type } = target;
  const below = inside(source, dest, merging);
  const items = source.items.map((item, index) => {
    const key = BigInt(index);
    const at: Place = { kind: "place", node: item, parent: dest, key };
    checkNotReadonly(dest, at);
    if (type?.kind !== "list") return item;
    if (type.element.kind !== "object") return convertItem(type.element, item, at);
    const given = isMissing(item) ? ofMissing(item) : item;
    if (given?.kind !== "map") return convertItem(type.element, item, at);
    const made = draftFor(dest, key, emptyContainer(type.element, item.origin));
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

/** Makes a change with `struct` off at this one node: what is below it has the flag again that it sets or inherits. */
export function withoutStruct(at: Draft, change: () => void): void {
  const before = at.node.flags;
  setFlags(at, withFlags(at.node, { struct: false }).flags);
  change();
  setFlags(at, withFlags(at.node, { struct: before?.struct }).flags);
}

function setFlags(at: Draft, flags: NodeFlags | undefined): void {
  if (flags === undefined) delete at.node.flags;
  else at.node.flags = flags;
}

/**
 * What a child has to be before something can be merged over it: the map or list that its
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
  if (!isInterpolationNode(old) || !isExpanded(dest, key, old, source, context))
    return asDeclared(dest, key, old, source);
  const target = tryFollow(dest, key, context);
  if (target === undefined || target.result === true || !isContainer(target.node))
    return asDeclared(dest, key, old, source);
  // In place of the interpolation, which was written; what was expanded before can stand in it many times.
  const { values, characters } = sizeOf(target.node, new Map());
  const at: Place = { kind: "place", node: old, parent: dest, key };
  spend(dest.copies.budget, { values: values - 1, characters }, at);
  assign(dest, key, snapshot(target.node, dest.copies));
  const field = fieldType(target);
  checkReplacesField(dest, key, field, source);
  // Null takes the place of an object, and the field that it stood in says of which class.
  if (field?.kind === "object" && isNull(source) && elementType(dest.node, key) === undefined)
    return { ...source, type: field };
  const written = child(dest.node, key) ?? old;
  return written.kind === "scalar" ? asDeclared(dest, key, written, source) : written;
}

/** A map or list; one that is declared is one of OmegaConf's also where it is null. */
const isContainer = (node: ConfigNode): boolean =>
  node.kind !== "scalar" || isContainerType(node.type);

const fieldType = ({ parent, key }: Place): NodeType | undefined =>
  parent === null || key === undefined ? undefined : elementType(parent.node, key);

/** What is merged as an object whose fields are missing. */
const isMissingObject = (node: ConfigNode): boolean =>
  isMissing(node) && node.type?.kind === "object";

const isNull = (node: ConfigNode): node is ScalarNode =>
  node.kind === "scalar" && node.value === null;

function asDeclared(dest: Draft, key: Key, old: ConfigNode, source: ConfigNode): ConfigNode {
  if (old.type === undefined || !isContainerType(old.type)) return old;
  if (source.kind === "scalar")
    return isInterpolationNode(old) && old.type.kind !== "list" && isMissingObject(source)
      ? emptyContainer(old.type, old.origin)
      : old;
  const at: Place = { kind: "place", node: source, parent: dest, key };
  const made = emptyContainer(old.type, old.origin);
  if (made.kind === "map" && source.kind === "list")
    throw isMissing(old)
      ? notOfClass(old.type, source, at)
      : incompatible({ ...at, node: made }, source);
  checkReplacesMissing(at, old, source);
  return made;
}

/**
 * Whether what stands there has to be followed: for a scalar that takes its place only what has a type
 * can make a difference.
 */
function isExpanded(
  dest: Draft,
  key: Key,
  old: InterpolationNode,
  source: ConfigNode,
  { dialect }: ResolveContext,
): boolean {
  const kind = staticKind(old, { kind: "place", node: old, parent: dest, key }, dialect);
  if (kind === "any container") return true;
  const isReplaced =
    source.kind === "scalar" &&
    !isMissing(source) &&
    old.type === undefined &&
    elementType(dest.node, key) === undefined;
  return kind === "untyped container" && !isReplaced;
}
