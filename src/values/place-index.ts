import type { ConfigNode, Key, KeyId, ScalarNode } from "./node.ts";
import { keyId } from "./node.ts";
import type { Place } from "./place.ts";

/** The places below one root, each made once, so that they can be compared and be keys of maps. */
export interface PlaceIndex {
  child(parent: Place, key: Key): Place | undefined;
  /**
   * Says that the interpolations right below a map or list are about to be resolved one after the other.
   * The first pass is given the places to go through, the later ones none: they ask for each child.
   */
  walk(parent: Place): Walk | undefined;
  /** The places right below one that somebody asked for, or that a pass has kept. */
  knownBelow(parent: Place): Iterable<Place>;
}

/**
 * A pass over the children of one place. What it has resolved answers whoever asks for such a child
 * later, so that most places live no longer than their turn: in a large tree the garbage collector
 * would spend more time on places that are kept than their resolution takes.
 */
export interface Walk {
  /** The place of an interpolation: the one that is known, or one that nobody else will get. */
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
