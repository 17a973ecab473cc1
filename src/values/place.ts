import type { ConfigNode, Key } from "./node.ts";
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
  /** What stands here was given as plain data, and not as part of a config: only words of refusals differ. */
  readonly plain?: boolean;
  /**
   * A note of the resolution that made this place: what its interpolation led to. Nothing else reads
   * or writes it. It stands here because a table of places would cost more than the places do.
   * @internal
   */
  outcome?: Place | typeof PENDING | undefined;
}

/** The outcome of an evaluation that is under way. */
export const PENDING = Symbol("pending");

/**
 * Writes a value to a place, as an assignment to the config would: whoever refers to the place from now on
 * finds that, and not what stood there.
 */
export function writeTo(
  place: { node: ConfigNode; outcome?: Place["outcome"] },
  value: ConfigNode,
): void {
  place.node = value;
  place.outcome = undefined;
}

/** A copy of a place and of those around it: what is written to one is not seen in the other. */
export const detachedPlace = (place: Place): Place =>
  place.result === true
    ? place
    : { ...place, outcome: undefined, parent: place.parent && detachedPlace(place.parent) };

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

/** What stands at a key of a map or list that is, or is going to be, at a place. */
export const below = (at: Place, container: ConfigNode, node: ConfigNode, key: Key): Place => ({
  kind: "place",
  node,
  parent: { ...at, node: container },
  key,
  ...(at.plain === true && { plain: true }),
});

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
