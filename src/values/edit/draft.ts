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
import { createResolution } from "../resolution/evaluate.ts";
import { type Resolution, referredPlace, tryDereference } from "../resolution/resolution.ts";

/**
 * Drafts are the maps and lists along the paths that a change touches: fresh copies, linked into
 * the new tree before they are filled, and written to only by the operation that made them. So the
 * unfinished tree can be resolved against at any moment, as OmegaConf's rules for merging demand,
 * and everything that is not touched stays shared with the old tree.
 */
export interface Draft extends Place {
  readonly node: DraftMap | DraftList;
  readonly copies: Copies;
}

/** What one operation has done so far, in all its trees. */
export interface Copies {
  /**
   * All nodes that it has copied. A draft stands at one place only: what is put elsewhere is a
   * snapshot of it.
   */
  readonly nodes: Set<ConfigNode>;
  /** What it has added to the trees where it put in what interpolations lead to. */
  readonly budget: Budget;
}

export const createCopies = (budget: Budget): Copies => ({ nodes: new Set(), budget });

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

export interface DraftMap extends Mutable<Omit<MapNode, "entries">> {
  readonly entries: Map<KeyId, MapEntry>;
}

export interface DraftList extends Mutable<Omit<ListNode, "items">> {
  items: ConfigNode[];
}

/** @param copies those of an operation that goes on, which may have drafted this very node */
export const draftRoot = (node: ContainerNode, copies: Copies): Draft => ({
  kind: "place",
  node: writable(node, copies),
  parent: null,
  copies,
});

/** A draft of what is going to stand at a key, and does not yet. */
export const draftFor = (parent: Draft, key: Key, node: ContainerNode): Draft => ({
  kind: "place",
  node: writable(node, parent.copies),
  parent,
  key,
  copies: parent.copies,
});

/** Replaces a child by a draft of `node`, and gives its place. */
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

/** The tree as it is now, whatever is written to the drafts in it later. */
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
 * What interpolations lead to in trees that are merged or changed, as they are at that moment.
 */

/**
 * What the interpolation at a key leads to; undefined where that fails.
 * @throws ConfigError `interpolation.syntax`
 */
export function tryFollow(parent: Place, key: Key, context: ResolveContext): Place | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  return place === undefined ? undefined : tryDereference(resolution, place);
}

/**
 * What stands at a key, or what its interpolation leads to.
 * @throws ConfigError of the interpolation
 */
export function follow(parent: Place, key: Key, context: ResolveContext): Place | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  return place === undefined ? undefined : dereferenced(resolution, place);
}

/**
 * The map or list that the interpolation at a key leads to, to be changed where it stands. One that a resolver
 * made stands nowhere: no later change of it is seen. Undefined where it leads to anything else.
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
 * The map or list that the reference at a key leads to, as keys alone tell, to be changed where it stands. Undefined where it leads
 * to anything else.
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

/** Whether keys lead from a root to a place: what a resolver made to stand somewhere has none there. */
function isIn(root: Place, target: Place): boolean {
  let at = target;
  while (at.parent !== null && at.key !== undefined) at = at.parent;
  return at === root;
}

const dereferenced = (resolution: Resolution, place: Place): Place =>
  asked(place, () => resolution.dereference(place));

function asked<Found>(place: Place, find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    throw isConfigError(error) ? error.askedFor(fullKeyOf(place)) : error;
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

/** The draft that stands at the same keys as a place, in the tree that another draft is a part of. */
export function draftAt(other: Draft, target: Place): Draft | undefined {
  const root = rootOf(other).node;
  if (root.kind === "scalar") return undefined;
  let at = draftRoot(root, other.copies);
  for (const key of pathOf(target)) {
    const node = child(at.node, key);
    if (node === undefined || node.kind === "scalar") return undefined;
    at = draftChild(at, key, node);
  }
  return at;
}
