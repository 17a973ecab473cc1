import type { ConfigNode, Key, KeyId, ListNode, MapEntry, MapNode } from "./node.ts";
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
  readonly parent: Draft | null;
}

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

export interface DraftMap extends Mutable<Omit<MapNode, "entries">> {
  readonly entries: Map<KeyId, MapEntry>;
}

export interface DraftList extends Mutable<Omit<ListNode, "items">> {
  items: ConfigNode[];
}

export const draftRoot = (node: MapNode | ListNode): Draft => ({
  kind: "place",
  node: copy(node),
  parent: null,
});

/** Replaces a child by a draft of `node`, and gives its place. */
export function draftChild(parent: Draft, key: Key, node: MapNode | ListNode): Draft {
  const child = copy(node);
  putChild(parent, key, child);
  return { kind: "place", node: child, parent, key };
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

function copy(node: MapNode | ListNode): DraftMap | DraftList {
  return node.kind === "map"
    ? { ...node, entries: new Map(node.entries) }
    : { ...node, items: [...node.items] };
}
