import type { Budget } from "./budget.ts";
import type { ConfigNode, ContainerNode, Key, KeyId, ListNode, MapEntry, MapNode } from "./node.ts";
import { keyId } from "./node.ts";
import type { Place } from "./place.ts";

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
