/** A node with the way to it from its root, since nodes do not know their parents. */
import { ConfigError } from "./errors.ts";
import {
  type ConfigNode,
  type ContainerNode,
  child,
  isContainerType,
  type Key,
  type KeyId,
  keyId,
  type NodeFlags,
  type ScalarNode,
} from "./node.ts";
import { keyText } from "./python-text.ts";

/**
 * A node and its location. Nodes have no parent pointers, because one node may occur in many trees and many times in
 * one; code that depends on the surroundings of a node works on places.
 */
export interface Place {
  readonly kind: "place";
  readonly node: ConfigNode;
  readonly parent: Place | null;
  /** Absent at a root, and for a container that a resolver created below `parent`. */
  readonly key?: Key;
  /** The result of an evaluation: plain data, in which no interpolation is resolved and no key can be selected. */
  readonly result?: true;
  /** The node was given as plain data and not as part of a config. Affects only the wording of errors. */
  readonly plain?: boolean;
  /**
   * Cache of the resolution that made this place: what its interpolation led to. Nothing else reads or writes it. It is
   * a field because a table of places would cost more than the places do.
   * @internal
   */
  outcome?: Place | typeof PENDING | undefined;
}

/** The outcome of an evaluation in progress. */
export const PENDING = Symbol("pending");

/**
 * Writes a value to a place, as an assignment to the config would: later references to the place find it instead of the
 * old node.
 */
export function writeTo(
  place: { node: ConfigNode; outcome?: Place["outcome"] },
  value: ConfigNode,
): void {
  place.node = value;
  place.outcome = undefined;
}

/** A copy of a place and its ancestors, so that writes to one are not seen in the other. */
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
  let current = place;
  while (current.parent !== null) current = current.parent;
  return current;
}

/** Whether `target` is `place` itself or contains it. */
export function isWithin(place: Place | null, target: Place): boolean {
  for (let ancestor = place; ancestor !== null; ancestor = ancestor.parent)
    if (ancestor === target) return true;
  return false;
}

/** The place of a child of a map or list that is, or is going to be, at another place. */
export const below = (place: Place, container: ConfigNode, node: ConfigNode, key: Key): Place => ({
  kind: "place",
  node,
  parent: { ...place, node: container },
  key,
  ...(place.plain === true && { plain: true }),
});

export function pathOf(place: Place): readonly Key[] {
  const path: Key[] = [];
  for (let ancestor: Place | null = place; ancestor !== null; ancestor = ancestor.parent)
    if (ancestor.key !== undefined) path.push(ancestor.key);
  return path.reverse();
}

/** The full key in the notation of messages: `a.b[0].c`, `[1][2].x`; with `key`, that of a child. */
export function fullKeyOf(place: Place, key?: Key): string {
  let text = key === undefined ? "" : prepend("", place, place, key);
  for (let current = place; current.parent !== null; current = current.parent)
    if (current.key !== undefined) text = prepend(text, current.parent, current, current.key);
  return text;
}

function prepend(text: string, parent: Place, place: Place, key: Key): string {
  const name = parent.node.kind === "list" ? `[${keyText(key)}]` : keyText(key);
  if (text === "") return name;
  return place.node.kind === "list" ? name + text : `${name}.${text}`;
}

/** The places below one root. Each is made once, so that they can be compared and used as keys of maps. */
export interface PlaceIndex {
  child(parent: Place, key: Key): Place | undefined;
  /**
   * Announces that the interpolations directly below a map or list are about to be resolved in order. The first pass
   * gets a walk, later ones get undefined and ask for each child.
   */
  walk(parent: Place): Walk | undefined;
  /** The places directly below one that was requested, or that a pass has kept. */
  knownBelow(parent: Place): Iterable<Place>;
}

/**
 * A pass over the children of one place. The values it has resolved answer later references to those children, so most
 * places can be garbage after their turn: in a large tree, keeping them would cost more time in the garbage collector
 * than their resolution takes.
 */
export interface Walk {
  /** The place of an interpolation: the known one, or a new one that is not shared. */
  visit(key: Key, node: ScalarNode): Place;
  /** Keeps a visited place, because its value alone cannot answer later references. */
  keep(place: Place): void;
  /** The values that the pass has resolved so far, by key identity. */
  resolved: ((id: KeyId) => ConfigNode | undefined) | undefined;
}

export function createPlaceIndex(): PlaceIndex {
  const childrenByPlace = new Map<Place, Children>();
  const childrenOf = (parent: Place): Children => {
    let children = childrenByPlace.get(parent);
    if (children === undefined) {
      children = { places: new Map(), walk: undefined };
      childrenByPlace.set(parent, children);
    }
    return children;
  };
  return {
    child(parent, key) {
      const id = keyId(key);
      const children = childrenByPlace.get(parent);
      const existing = children?.places.get(id);
      if (existing !== undefined) return existing;
      const node = childNode(parent.node, key, id);
      if (node === undefined) return undefined;
      if (node.kind === "scalar") {
        const value = children?.walk?.resolved?.(id);
        if (value?.kind === "scalar" && value !== node)
          return { kind: "place", node: value, parent, key, result: true };
      }
      const place = childPlace(parent, key, node);
      (children ?? childrenOf(parent)).places.set(id, place);
      return place;
    },
    walk(parent) {
      const children = childrenOf(parent);
      if (children.walk !== undefined) return undefined;
      children.walk = createWalk(parent, children.places);
      return children.walk;
    },
    knownBelow: (parent) => childrenByPlace.get(parent)?.places.values() ?? [],
  };
}

interface Children {
  readonly places: Map<KeyId, Place>;
  walk: Walk | undefined;
}

const createWalk = (parent: Place, places: Map<KeyId, Place>): Walk => ({
  resolved: undefined,
  visit: (key, node) => places.get(keyId(key)) ?? childPlace(parent, key, node),
  keep(place) {
    if (place.key !== undefined) places.set(keyId(place.key), place);
  },
});

// All fields at once: adding one later costs another allocation.
const childPlace = (parent: Place, key: Key, node: ConfigNode): Place => ({
  kind: "place",
  node,
  parent,
  key,
  outcome: undefined,
});

function childNode(node: ConfigNode, key: Key, id: KeyId): ConfigNode | undefined {
  if (node.kind === "map") return node.entries.get(id)?.value;
  return node.kind === "list" && typeof key === "bigint" ? node.items[Number(key)] : undefined;
}

/** The place at the end of a path, or the deepest existing one on it. */
export function placeBelow(start: Place, path: readonly Key[]): Place {
  let place = start;
  for (const key of path) {
    const node = child(place.node, key);
    if (node === undefined) return place;
    place = { kind: "place", node, parent: place, key };
  }
  return place;
}

/** The effective flag at a place: its own, otherwise that of the nearest ancestor that sets it. */
export function flagAt(place: Place, flag: keyof NodeFlags): boolean {
  for (let ancestor: Place | null = place; ancestor !== null; ancestor = ancestor.parent) {
    const value = ancestor.node.flags?.[flag];
    if (value !== undefined) return value;
  }
  return false;
}

/** Flags to set, or to unset where `undefined` is given. */
export type FlagChanges = { readonly [Flag in keyof NodeFlags]?: boolean | undefined };

/** The node with flags set, or unset (`undefined`); other flags stay as they are. */
export function withFlags(node: ContainerNode, flags: FlagChanges): ContainerNode;
export function withFlags(node: ConfigNode, flags: FlagChanges): ConfigNode;
export function withFlags(node: ConfigNode, flags: FlagChanges): ConfigNode {
  const merged = { ...node.flags, ...flags };
  const { flags: _, ...rest } = node;
  const set: { struct?: boolean; readonly?: boolean } = {};
  if (merged.struct !== undefined) set.struct = merged.struct;
  if (merged.readonly !== undefined) set.readonly = merged.readonly;
  return Object.keys(set).length === 0 ? rest : { ...rest, flags: set };
}

/*
 * What a read-only tree refuses, as OmegaConf does: replacing a child checks the flag of its parent; setting the value
 * of a scalar node checks the flag of the node.
 */

/** @throws ConfigError `value.readonly` where a container is to be changed and its flag holds */
export function checkNotReadonly(parent: Place, place: Place): void {
  if (!flagAt(parent, "readonly")) return;
  throw readonly(
    place,
    parent.node.kind === "list"
      ? "ListConfig is read-only"
      : "Cannot change read-only config container",
  );
}

/**
 * OmegaConf checks the flag when it sets scalars, but not for declared maps, lists and unions.
 * @throws ConfigError `value.readonly` where the flag holds
 */
export function checkSettable(place: Place): void {
  const { type } = place.node;
  if (isContainerType(type) || type?.kind === "union") return;
  if (flagAt(place, "readonly")) throw readonlyError(place);
}

export const readonlyError = (place: Place): ConfigError =>
  readonly(place, "Cannot set value of read-only config node");

const readonly = (place: Place, message: string): ConfigError =>
  new ConfigError({
    code: "value.readonly",
    message,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });
