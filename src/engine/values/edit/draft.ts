/** Copies of the nodes that a change touches: one for each, however many steps the change has. */
import type { Dialect } from "../dialect.ts";
import { isConfigError } from "../errors.ts";
import type { Budget } from "../limits.ts";
import {
  type ConfigNode,
  type ContainerNode,
  child,
  type Key,
  type KeyId,
  keyId,
  type ListNode,
  type MapEntry,
  type MapNode,
} from "../node.ts";
import { fullKeyOf, type Place, pathOf, rootOf } from "../place.ts";
import type { ResolveContext } from "../resolution/context.ts";
import { createResolution } from "../resolution/evaluate-interpolation.ts";
import { type Resolution, referredPlace, tryDereference } from "../resolution/resolution.ts";

/**
 * Drafts are the maps and lists along the paths that a change touches: fresh copies, linked into the new tree before
 * they are filled, and written to only by the operation that made them. So interpolations can be resolved against the
 * unfinished tree at any moment, as OmegaConf's rules for merging demand, and untouched nodes stay shared with the old
 * tree.
 */
export interface Draft extends Place {
  readonly node: DraftMap | DraftList;
  readonly copies: Copies;
}

/** The nodes that one operation has copied so far, in all its trees. */
export interface Copies {
  /** All nodes that it has copied. A draft stands at one place only: elsewhere a snapshot of it is inserted. */
  readonly nodes: Set<ConfigNode>;
  /** Counts what it has added by expanding interpolations. */
  readonly budget: Budget;
  readonly dialect: Dialect;
}

export const createCopies = (budget: Budget, dialect: Dialect): Copies => ({
  nodes: new Set(),
  budget,
  dialect,
});

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

export interface DraftMap extends Mutable<Omit<MapNode, "entries">> {
  readonly entries: Map<KeyId, MapEntry>;
}

export interface DraftList extends Mutable<Omit<ListNode, "items">> {
  items: ConfigNode[];
}

/** @param copies of the running operation, which may already have drafted this node */
export const draftRoot = (node: ContainerNode, copies: Copies): Draft => ({
  kind: "place",
  node: writable(node, copies),
  parent: null,
  copies,
});

/** A draft of a node that is going to be inserted at a key. */
export const draftFor = (parent: Draft, key: Key, node: ContainerNode): Draft => ({
  kind: "place",
  node: writable(node, parent.copies),
  parent,
  key,
  copies: parent.copies,
});

/** Replaces a child by a draft of `node`, and returns its place. */
export function draftChild(parent: Draft, key: Key, node: ContainerNode): Draft {
  const { copies } = parent;
  const child = writable(node, copies);
  if (child !== node) putChild(parent, key, child);
  return { kind: "place", node: child, parent, key, copies };
}

function writable(node: ContainerNode, copies: Copies): DraftMap | DraftList {
  if (isDraft(node, copies)) return node;
  const copy = copyOf(node);
  copies.nodes.add(copy);
  return copy;
}

const isDraft = (node: ConfigNode, { nodes }: Copies): node is DraftMap | DraftList =>
  nodes.has(node);

/** The tree in its current state, unaffected by later writes to its drafts. */
export function snapshot(node: ConfigNode, copies: Copies): ConfigNode {
  if (node.kind === "scalar" || !copies.nodes.has(node)) return node;
  if (node.kind === "list")
    return { ...node, items: node.items.map((item) => snapshot(item, copies)) };
  const entries = [...node.entries].map(
    ([id, { key, value }]) => [id, { key, value: snapshot(value, copies) }] as const,
  );
  return { ...node, entries: new Map(entries) };
}

/** Writes a child. An equal key that is there already keeps its position and its key object. */
export function putChild(parent: Draft, key: Key, child: ConfigNode): void {
  const { node } = parent;
  if (node.kind === "list") node.items[Number(key)] = child;
  else {
    const id = keyId(key);
    node.entries.set(id, { key: node.entries.get(id)?.key ?? key, value: child });
  }
}

function copyOf(node: ContainerNode): DraftMap | DraftList {
  return node.kind === "map"
    ? { ...node, entries: new Map(node.entries) }
    : { ...node, items: [...node.items] };
}

/*
 * Interpolations are followed in the tree that is being merged or changed, in its current state.
 */

/**
 * The target of the interpolation at a key; undefined where following it fails.
 * @throws ConfigError `interpolation.syntax`
 */
export function tryFollow(parent: Place, key: Key, context: ResolveContext): Place | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  return place === undefined ? undefined : tryDereference(resolution, place);
}

/**
 * The place at a key, or the target of its interpolation.
 * @throws ConfigError of the interpolation
 */
export function follow(parent: Place, key: Key, context: ResolveContext): Place | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  return place === undefined ? undefined : dereferenced(resolution, place);
}

/**
 * A draft of the map or list that the interpolation at a key leads to, so that it is changed in place. A node made by a
 * resolver has no place in the tree: its later changes are not visible there. Undefined where the target is neither a
 * map nor a list.
 * @throws ConfigError of the interpolation
 */
export function draftFollowed(parent: Draft, key: Key, context: ResolveContext): Draft | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  if (place === undefined) return undefined;
  const target = dereferenced(resolution, place);
  if (target.node.kind === "scalar" || target.result === true) return undefined;
  return isIn(resolution.root, target)
    ? draftAt(parent, target)
    : draftFor(parent, key, target.node);
}

/**
 * As `draftFollowed`, but no resolver is called. Undefined also where the value is more than a reference.
 * @throws ConfigError of the reference
 */
export function draftReferred(parent: Draft, key: Key, context: ResolveContext): Draft | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  if (place === undefined) return undefined;
  const target = asked(place, () => referredPlace(resolution, place));
  if (target === undefined || target.node.kind === "scalar" || target.result === true)
    return undefined;
  return isIn(resolution.root, target) ? draftAt(parent, target) : undefined;
}

/** Whether a path of keys leads from the root to a place. A node that a resolver made has no such path. */
function isIn(root: Place, target: Place): boolean {
  let ancestor = target;
  while (ancestor.parent !== null && ancestor.key !== undefined) ancestor = ancestor.parent;
  return ancestor === root;
}

const dereferenced = (resolution: Resolution, place: Place): Place =>
  asked(place, () => resolution.dereference(place));

function asked<Found>(place: Place, find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    throw isConfigError(error) ? error.withRequestedKey(fullKeyOf(place)) : error;
  }
}

interface Following {
  readonly resolution: Resolution;
  readonly place: Place | undefined;
}

function placeAt(parent: Place, key: Key, context: ResolveContext): Following {
  const resolution = createResolution(rootOf(parent).node, context);
  let place: Place | undefined = resolution.root;
  for (const step of [...pathOf(parent), key])
    place = place === undefined ? undefined : resolution.places.child(place, step);
  return { resolution, place };
}

/** The draft at the path of a place, in the tree of another draft. */
export function draftAt(other: Draft, target: Place): Draft | undefined {
  const root = rootOf(other).node;
  if (root.kind === "scalar") return undefined;
  let draft = draftRoot(root, other.copies);
  for (const key of pathOf(target)) {
    const node = child(draft.node, key);
    if (node === undefined || node.kind === "scalar") return undefined;
    draft = draftChild(draft, key, node);
  }
  return draft;
}
