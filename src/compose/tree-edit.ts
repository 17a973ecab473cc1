import type { ConfigNode, MapNode } from "../values/node.ts";
import { keyId, map } from "../values/node.ts";
import type { Origin } from "../values/origin.ts";

/*
 * Edits of a tree that are the engine's own and so ask no flags: each returns a new root and
 * shares everything it did not change.
 */

/** Sets the value at a path of string keys; maps that are not there yet are made. */
export function setAt(root: MapNode, path: readonly string[], value: ConfigNode): MapNode {
  const [key, ...rest] = path;
  if (key === undefined) return root;
  if (rest.length === 0) return withEntry(root, key, value);
  const before = root.entries.get(keyId(key))?.value;
  const inner = before?.kind === "map" ? before : map([], value.origin);
  return withEntry(root, key, setAt(inner, rest, value));
}

export function getAt(root: ConfigNode, path: readonly string[]): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>(
    (node, key) => (node?.kind === "map" ? node.entries.get(keyId(key))?.value : undefined),
    root,
  );
}

export function withEntry(node: MapNode, key: string, value: ConfigNode): MapNode {
  const before = node.entries.get(key);
  const entries = new Map(node.entries).set(key, { key: before?.key ?? key, value });
  return { ...node, entries };
}

export function withoutEntry(node: MapNode, key: string): MapNode {
  const entries = new Map(node.entries);
  entries.delete(key);
  return { ...node, entries };
}

/** Appends to a list; what is no list is replaced by one. */
export function appended(
  node: ConfigNode | undefined,
  items: readonly ConfigNode[],
  origin: Origin,
): ConfigNode {
  if (node?.kind !== "list") return { kind: "list", items, origin };
  return items.length === 0 ? node : { ...node, items: [...node.items, ...items] };
}
