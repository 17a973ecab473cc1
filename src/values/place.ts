import type { ConfigNode, Key, KeyId } from "./node.ts";
import { keyId } from "./node.ts";
import { keyText } from "./python-text.ts";

/**
 * A node and where it stands. Nodes have no parents, because one node may stand in many trees and
 * many times in one; whatever depends on the surroundings works on places.
 */
export interface Place {
  readonly kind: "place";
  readonly node: ConfigNode;
  readonly parent: Place | null;
  /** Absent at a root, and for a container that a resolver made to stand below `parent`. */
  readonly key?: Key;
  /**
   * The result of an evaluation: plain data in which nothing is interpolated again, and which
   * cannot be selected into.
   */
  readonly result?: true;
  /**
   * A note of the resolution that made this place: what its interpolation led to. Nothing else reads
   * or writes it. It stands here because a table of places would cost more than the places do.
   */
  outcome?: Place | typeof PENDING | undefined;
}

/** The outcome of an evaluation that is under way. */
export const PENDING = Symbol("pending");

export const rootPlace = (node: ConfigNode): Place => ({ kind: "place", node, parent: null });

/** The place of an evaluated value, which stands for the node at `at`. */
export const resultPlace = (node: ConfigNode, { parent, key }: Place): Place =>
  key === undefined
    ? { kind: "place", node, parent, result: true }
    : { kind: "place", node, parent, key, result: true };

export function rootOf(place: Place): Place {
  let at = place;
  while (at.parent !== null) at = at.parent;
  return at;
}

/** Whether `target` is `place` itself or contains it. */
export function isWithin(place: Place | null, target: Place): boolean {
  for (let at = place; at !== null; at = at.parent) if (at === target) return true;
  return false;
}

export function pathOf(place: Place): readonly Key[] {
  const path: Key[] = [];
  for (let at: Place | null = place; at !== null; at = at.parent)
    if (at.key !== undefined) path.push(at.key);
  return path.reverse();
}

/** The full key as messages name it: `a.b[0].c`, `[1][2].x`; with `key`, that of a child. */
export function fullKeyOf(place: Place, key?: Key): string {
  let text = key === undefined ? "" : prepend("", place, place, key);
  for (let at = place; at.parent !== null; at = at.parent)
    if (at.key !== undefined) text = prepend(text, at.parent, at, at.key);
  return text;
}

function prepend(text: string, parent: Place, at: Place, key: Key): string {
  const name = parent.node.kind === "list" ? `[${keyText(key)}]` : keyText(key);
  if (text === "") return name;
  return at.node.kind === "list" ? name + text : `${name}.${text}`;
}

/** The places below one root, each made once, so that they can be compared and be keys of maps. */
export interface PlaceIndex {
  child(parent: Place, key: Key): Place | undefined;
}

export function createPlaceIndex(): PlaceIndex {
  const known = new Map<Place, Map<KeyId, Place>>();
  const make = (parent: Place, key: Key, id: KeyId): Place | undefined => {
    const node = childNode(parent.node, key, id);
    if (node === undefined) return undefined;
    // All fields at once: one that is added later costs an allocation of its own.
    return { kind: "place", node, parent, key, outcome: undefined };
  };
  return {
    child(parent, key) {
      const id = keyId(key);
      const siblings = known.get(parent);
      const before = siblings?.get(id);
      if (before !== undefined) return before;
      const place = make(parent, key, id);
      if (place === undefined) return undefined;
      if (siblings === undefined) known.set(parent, new Map([[id, place]]));
      else siblings.set(id, place);
      return place;
    },
  };
}

function childNode(node: ConfigNode, key: Key, id: KeyId): ConfigNode | undefined {
  if (node.kind === "map") return node.entries.get(id)?.value;
  return node.kind === "list" && typeof key === "bigint" ? node.items[Number(key)] : undefined;
}
