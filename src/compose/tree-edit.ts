import type { ConfigNode, KeyId, MapEntry, MapNode } from "../values/node.ts";
import { keyId, map } from "../values/node.ts";

/*
 * Edits of a tree that are the engine's own and so ask no flags: each returns a new root and
 * shares everything it did not change.
 */

/** Several edits of one tree: each map on the way to them is copied once. */
export interface TreeEditor {
  /** The tree with all edits so far. It changes with the next one. */
  readonly root: MapNode;
  get(path: readonly string[]): ConfigNode | undefined;
  /** Sets the value at a path of string keys; maps that are not there yet are made. */
  set(path: readonly string[], value: ConfigNode): void;
}

export function editTree(tree: MapNode): TreeEditor {
  const copies = new Map<ConfigNode, Map<KeyId, MapEntry>>();
  const copyOf = (node: MapNode): MapNode => {
    if (copies.has(node)) return node;
    const entries = new Map(node.entries);
    const copy = { ...node, entries };
    copies.set(copy, entries);
    return copy;
  };
  const put = (node: MapNode, key: string, value: ConfigNode): void => {
    copies.get(node)?.set(key, { key: node.entries.get(key)?.key ?? key, value });
  };
  const root = copyOf(tree);
  return {
    root,
    get: (path) => getAt(root, path),
    set(path, value) {
      let at = root;
      for (const key of path.slice(0, -1)) {
        const before = at.entries.get(key)?.value;
        const inner = copyOf(before?.kind === "map" ? before : map([], value.origin));
        if (inner !== before) put(at, key, inner);
        at = inner;
      }
      const last = path.at(-1);
      if (last !== undefined) put(at, last, value);
    },
  };
}

/** One edit: a new tree with the value at a path. */
export function setAt(root: MapNode, path: readonly string[], value: ConfigNode): MapNode {
  const tree = editTree(root);
  tree.set(path, value);
  return tree.root;
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
