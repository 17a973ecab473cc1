/** `OmegaConf.merge` and `merge_with`. */
import { ConfigError } from "../errors.ts";
import {
  type InterpolationNode,
  isInterpolationNode,
} from "../interpolation/interpolation-parser.ts";
import { suggesting } from "../key-path.ts";
import { type Budget, createBudget, sizeOf, spend } from "../limits.ts";
import {
  type ConfigNode,
  type ContainerNode,
  checkDepth,
  child,
  elementType,
  emptyContainer,
  holdsContainer,
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
 * `OmegaConf.merge`: later trees over earlier ones. Maps merge key by key and keep the position of known keys; lists
 * and scalars are replaced as a whole; a missing value (`???`) replaces nothing. An interpolation to a map or list is
 * expanded before something is merged over it; the context is needed for that. Nodes that were overwritten are kept in
 * `replaced`.
 * @param budget counts what is expanded, of this merge or of the operation that it is a part of
 * @throws ConfigError `merge.incompatible` (map and list), `value.struct`, `value.readonly`, `value.wrong_type`,
 *   `yaml.depth_limit`, `limit.values`, `limit.characters`
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
  const { dialect } = context;
  const readonly = first.flags?.readonly;
  // One draft for all layers: a map is copied once, however many of them change it.
  const copies = createCopies(budget, dialect);
  let target = dialect.mergesIntoReadonly ? first : withFlags(first, { readonly: false });
  for (const other of others)
    target = suggesting(dialect, () => mergeRoot(target, other, { context, copies }));
  if (dialect.mergesIntoReadonly) return target;
  const turnedReadonly = target.flags?.readonly === true;
  return withFlags(target, { readonly: turnedReadonly ? true : readonly });
}

/**
 * Merges a node over a draft: OmegaConf's `merge_with`, which respects the flags at that place.
 * @param ofAnyClass whether the object at the draft was made in place of an interpolation, so that its class is not
 *   checked
 * @throws ConfigError as `mergeNodes`
 */
export const mergeInto = (
  dest: Draft,
  source: ContainerNode,
  context: ResolveContext,
  ofAnyClass = false,
): void => mergeContainer(dest, source, { ...atRoots(context), ofAnyClass });

const atRoots = (context: ResolveContext): Merging => ({
  context,
  from: null,
  fromReadonly: false,
  intoReadonly: false,
  depth: 0,
  ofAnyClass: false,
});

/** The context of merging one map or list into another. */
interface Merging {
  readonly context: ResolveContext;
  /** The parent of the source, in its own tree; null at the root. */
  readonly from: Place | null;
  /** Whether the parent of the source is read-only, which the source inherits. */
  readonly fromReadonly: boolean;
  /** Whether maps and lists with the flag `readonly` are changed all the same, and keep it. */
  readonly intoReadonly: boolean;
  /** Depth below the roots. */
  readonly depth: number;
  /** As for `mergeInto`; also for the class of a missing value. */
  readonly ofAnyClass: boolean;
}

function mergeContainer(dest: Draft, source: ContainerNode, merging: Merging): void {
  checkDepth(merging.depth, source);
  // What is around is not read-only meanwhile, so that only the own flag counts.
  if (merging.intoReadonly && dest.node.flags?.readonly === true)
    withoutFlag(dest, "readonly", () => mergeContents(dest, source, merging));
  else mergeContents(dest, source, merging);
}

function mergeContents(dest: Draft, source: ContainerNode, merging: Merging): void {
  if (dest.node.kind === "map" && source.kind === "map") mergeMap(dest, dest.node, source, merging);
  else if (dest.node.kind === "list" && source.kind === "list")
    mergeList(dest, dest.node, source, merging);
  else throw incompatible(dest, source, merging.context.dialect);
}

/** The context of merging all trees. */
interface Layering {
  readonly context: ResolveContext;
  readonly copies: Copies;
}

function mergeRoot(target: ConfigNode, source: ConfigNode, layering: Layering): ConfigNode {
  if (target.kind === "scalar" || source.kind === "scalar")
    return mergeSpecialRoot(target, source, layering);
  const { context, copies } = layering;
  const root = draftRoot(target, copies);
  const intoReadonly = context.dialect.mergesIntoReadonly;
  mergeContainer(root, source, { ...atRoots(context), intoReadonly });
  return root.node;
}

/** At least one root is a scalar: null, missing or an interpolation. */
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
  // Merging an object of a subclass changes the type of the target to the subclass, because it may bring fields of its
  // own.
  if (target.type?.kind === "object" && source.type?.kind === "object") target.type = source.type;
  const below = inside(source, dest, merging);
  for (const { key, value } of source.entries.values()) mergeChild(dest, key, value, below);
  if (target.type === undefined && source.type !== undefined) adoptType(dest, target, source.type);
  else if (source.type?.kind === "object") target.type = source.type;
  takeFlags(target, source);
}

/** What an untyped map has must fit the type that a source brings, as it is: nothing is converted. */
function adoptType(dest: Draft, target: DraftMap, type: NodeType): void {
  const fitting = fitNode(type, target, dest);
  if (fitting.kind === "map")
    for (const [id, entry] of fitting.entries) target.entries.set(id, entry);
  target.type = type;
}

/** A source has the same key as its target. */
const inside = (source: ContainerNode, { key }: Draft, merging: Merging): Merging => ({
  ...merging,
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
  const expanded = expand(dest, key, old, source, context);
  const isMade = source.type?.kind === "object" && isInterpolationNode(old);
  const ofAnyClass = isMade && child(dest.node, key) === old;
  mergeOver(dest, key, expanded, source, ofAnyClass ? { ...merging, ofAnyClass } : merging);
}

/** The key, converted to the key type of a typed map: `1` may stand for an enum member. */
function knownKey(dest: Draft, key: Key, node: ConfigNode): Key {
  const { type } = dest.node;
  if (type?.kind !== "map") return key;
  return convertKey(type.key, key, { kind: "place", node, parent: dest, key });
}

/**
 * A new object is created with its defaults before the source is merged into it. A source that is a child of an object
 * is added in spite of `struct`.
 */
function add(dest: Draft, key: Key, source: ConfigNode, merging: Merging): void {
  const type = elementType(dest.node, key);
  if (type?.kind === "object" && !isMissing(source)) {
    const made = emptyContainer(type, source.origin);
    assign(dest, key, made);
    mergeOver(dest, key, made, source, merging);
  } else if (merging.from?.node.type?.kind === "object")
    withoutFlag(dest, "struct", () => assign(dest, key, source));
  else assign(dest, key, source);
}

function mergeOver(
  dest: Draft,
  key: Key,
  existing: ConfigNode,
  source: ConfigNode,
  merging: Merging,
): void {
  if (existing.kind !== "scalar" && source.kind !== "scalar")
    mergeContainer(draftChild(dest, key, existing), source, merging);
  else if (existing.kind !== "scalar") {
    checkSameKind(dest, key, existing, source, merging);
    if (isMissing(source)) mergeMissing(dest, key, existing, source, merging);
    else assign(dest, key, source);
  } else if (source.kind !== "scalar") assign(dest, key, source);
  else if (existing.type !== undefined) mergeTypedScalar(dest, key, existing, source);
  // A map or list that is missing is a container for OmegaConf, and replaces what is none.
  else if (isMissing(source) && !isContainerType(source.type))
    keep(dest, key, existing, source, merging);
  else assign(dest, key, source);
}

/** A map that is declared, and null, missing or an interpolation, merges with maps alone, and such a list with lists. */
function checkSameKind(
  dest: Draft,
  key: Key,
  existing: ContainerNode,
  source: ConfigNode,
  { context }: Merging,
): void {
  if (!isContainerType(source.type)) return;
  const declared = source.type.kind === "list" ? list([], source.origin) : map([], source.origin);
  if (declared.kind === existing.kind) return;
  const place: Place = { kind: "place", node: existing, parent: dest, key };
  throw incompatible(place, declared, context.dialect);
}

function mergeTypedScalar(dest: Draft, key: Key, existing: ScalarNode, source: ScalarNode): void {
  if (isMissing(source)) return;
  const place: Place = { kind: "place", node: source, parent: dest, key };
  checkNotReadonly(dest, place);
  const { type } = existing;
  const typed = type === undefined ? source : convertNode(type, source, place);
  putChild(dest, key, replacing(typed, existing));
}

/**
 * A missing value over an untyped one keeps the old value, which must fit the type of the missing one. OmegaConf
 * assigns the old value to the missing node and then writes it back, so both must be writable.
 */
function keep(
  dest: Draft,
  key: Key,
  existing: ScalarNode,
  source: ScalarNode,
  merging: Merging,
): void {
  const place: Place = { kind: "place", node: existing, parent: dest, key };
  if (source.flags?.readonly ?? merging.fromReadonly) throw readonlyError(place);
  checkNotReadonly(dest, place);
  if (source.type !== undefined) putChild(dest, key, convertScalar(source.type, existing, place));
}

function mergeList(dest: Draft, target: DraftList, source: ListNode, merging: Merging): void {
  const { type } = target;
  const below = inside(source, dest, merging);
  const items = source.items.map((item, index) => {
    const key = BigInt(index);
    const place: Place = { kind: "place", node: item, parent: dest, key };
    checkNotReadonly(dest, place);
    if (type?.kind !== "list") return item;
    if (type.element.kind !== "object") return convertItem(type.element, item, place);
    const content = isMissing(item) ? ofMissing(item) : item;
    if (content?.kind !== "map") return convertItem(type.element, item, place);
    const made = draftFor(dest, key, emptyContainer(type.element, item.origin));
    mergeContainer(made, content, item.kind === "map" ? below : { ...below, ofAnyClass: true });
    return made.node;
  });
  const previous = { ...target };
  target.items = items;
  target.origin = source.origin;
  target.replaced = previous;
  takeFlags(target, source);
}

/** Flags set on the source itself override those of the target. */
function takeFlags(target: DraftMap | DraftList, source: ConfigNode): void {
  if (source.flags === undefined) return;
  const flags: NodeFlags = { ...target.flags, ...source.flags };
  target.flags = flags;
}

/**
 * A missing value keeps the old map or list, and adds what its own type declares: the fields of an object, or the
 * element type of a map.
 */
function mergeMissing(
  dest: Draft,
  key: Key,
  existing: ContainerNode,
  source: ConfigNode,
  merging: Merging,
): void {
  const { type } = source;
  if (type?.kind === "object")
    mergeContainer(draftChild(dest, key, existing), unsetObject(type, source.origin), {
      ...merging,
      ofAnyClass: true,
    });
  if (existing.kind !== "map" || existing.type !== undefined || type?.kind !== "map") return;
  const place: Place = { kind: "place", node: existing, parent: dest, key };
  putChild(dest, key, fitNode(type, existing, place));
}

/** For a missing item of a list of objects that was declared as a map: what is merged into the new object. */
function ofMissing({ type, origin }: ConfigNode): MapNode | undefined {
  if (type?.kind === "object") return unsetObject(type, origin);
  return type?.kind === "map" ? map([], origin) : undefined;
}

/**
 * Runs a change with a flag off at this one node. A child that sets no flag of its own inherits the original flag
 * again afterwards.
 */
export function withoutFlag(draft: Draft, flag: keyof NodeFlags, change: () => void): void {
  const previous = draft.node.flags?.[flag];
  setFlags(draft, withFlags(draft.node, { [flag]: false }).flags);
  change();
  setFlags(draft, withFlags(draft.node, { [flag]: previous }).flags);
}

function setFlags(draft: Draft, flags: NodeFlags | undefined): void {
  if (flags === undefined) delete draft.node.flags;
  else draft.node.flags = flags;
}

/**
 * Prepares a child for being merged over: an interpolation is replaced by the map or list that it leads to, and null or
 * missing by an empty map or list if its type declares one.
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
  if (target === undefined || target.result === true || !holdsContainer(target.node))
    return asDeclared(dest, key, old, source);
  // The expansion replaces the text of the interpolation, and may itself be referred to many times, so it counts
  // against the limits.
  const { values, characters } = sizeOf(target.node, new Map());
  const place: Place = { kind: "place", node: old, parent: dest, key };
  spend(dest.copies.budget, { values: values - 1, characters }, place);
  assign(dest, key, snapshot(target.node, dest.copies));
  const field = fieldType(target);
  checkReplacesField(dest, key, field, source);
  // Where null replaces an expanded object, the class comes from the field that the interpolation led to.
  if (field?.kind === "object" && isNull(source) && elementType(dest.node, key) === undefined)
    return { ...source, type: field };
  const written = child(dest.node, key) ?? old;
  return written.kind === "scalar" ? asDeclared(dest, key, written, source) : written;
}

const fieldType = ({ parent, key }: Place): NodeType | undefined =>
  parent === null || key === undefined ? undefined : elementType(parent.node, key);

/** A missing value that is merged as an object with missing fields. */
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
  const place: Place = { kind: "place", node: source, parent: dest, key };
  const made = emptyContainer(old.type, old.origin);
  if (made.kind === "map" && source.kind === "list")
    throw isMissing(old)
      ? notOfClass(old.type, source, place)
      : incompatible({ ...place, node: made }, source);
  checkReplacesMissing(place, old, source);
  return made;
}

/**
 * Whether the interpolation must be followed. Where an untyped scalar replaces it, only a typed target could make a
 * difference.
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
