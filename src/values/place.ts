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
 * Writes a value to a place, as an assignment to the config would: every later reference to the place
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

/** The places below one root, each made once, so that they can be compared and be keys of maps. */
export interface PlaceIndex {
  child(parent: Place, key: Key): Place | undefined;
  /**
   * Says that the interpolations right below a map or list are about to be resolved one after the other.
   * The first pass is given the places to go through, the later ones none: they ask for each child.
   */
  walk(parent: Place): Walk | undefined;
  /** The places right below one that was asked for, or that a pass has kept. */
  knownBelow(parent: Place): Iterable<Place>;
}

/**
 * A pass over the children of one place. What it has resolved is the answer to every request for such a child
 * later, so that most places live no longer than their turn: in a large tree the garbage collector
 * would spend more time on places that are kept than their resolution takes.
 */
export interface Walk {
  /** The place of an interpolation: the one that is known, or one that is not shared. */
  visit(key: Key, node: ScalarNode): Place;
  /** Keeps a visited place after all: what it leads to is more than the value it resolved to. */
  keep(place: Place): void;
  /** What the pass resolved so far, by the identities of the keys. */
  resolved: ((id: KeyId) => ConfigNode | undefined) | undefined;
}

export function createPlaceIndex(): PlaceIndex {
  const known = new Map<Place, Children>();
  const childrenOf = (parent: Place): Children => {
    let children = known.get(parent);
    if (children === undefined) {
      children = { places: new Map(), walk: undefined };
      known.set(parent, children);
    }
    return children;
  };
  return {
    child(parent, key) {
      const id = keyId(key);
      const children = known.get(parent);
      const before = children?.places.get(id);
      if (before !== undefined) return before;
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
    knownBelow: (parent) => known.get(parent)?.places.values() ?? [],
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

// All fields at once: one that is added later costs an allocation of its own.
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

/** The place at the end of a path, or the last one on it that there is. */
export function placeBelow(at: Place, path: readonly Key[]): Place {
  let place = at;
  for (const key of path) {
    const node = child(place.node, key);
    if (node === undefined) return place;
    place = { kind: "place", node, parent: place, key };
  }
  return place;
}

/** A flag as it holds at a place: its own, else that of the nearest node above that sets it. */
export function flagAt(place: Place, flag: keyof NodeFlags): boolean {
  for (let at: Place | null = place; at !== null; at = at.parent) {
    const own = at.node.flags?.[flag];
    if (own !== undefined) return own;
  }
  return false;
}

/** Flags to set, or to unset where `undefined` is given. */
export type FlagChanges = { readonly [Flag in keyof NodeFlags]?: boolean | undefined };

/** The node with flags set, or unset (`undefined`); those not named stay as they are. */
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
 * What a read-only tree refuses, in OmegaConf's words: what contains a value is changed where another one takes its
 * place; a value is set where a scalar stays and becomes another one.
 */

/** @throws ConfigError `value.readonly` where what contains a value is to be changed and the flag holds */
export function checkNotReadonly(parent: Place, at: Place): void {
  if (!flagAt(parent, "readonly")) return;
  throw readonly(
    at,
    parent.node.kind === "list"
      ? "ListConfig is read-only"
      : "Cannot change read-only config container",
  );
}

/**
 * OmegaConf asks for the flag where scalars are set, and not where declared maps, lists and unions are.
 * @throws ConfigError `value.readonly` where the flag holds
 */
export function checkSettable(at: Place): void {
  const { type } = at.node;
  if (isContainerType(type) || type?.kind === "union") return;
  if (flagAt(at, "readonly")) throw readonlyError(at);
}

export const readonlyError = (at: Place): ConfigError =>
  readonly(at, "Cannot set value of read-only config node");

const readonly = (at: Place, message: string): ConfigError =>
  new ConfigError({
    code: "value.readonly",
    message,
    key: fullKeyOf(at),
    origin: at.node.origin,
  });
