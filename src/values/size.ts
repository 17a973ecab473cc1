import { limitError, type Size } from "./budget.ts";
import { refuseDepth } from "./depth.ts";
import type { Limits } from "./limits.ts";
import {
  type ConfigNode,
  type ContainerNode,
  child,
  isPathValue,
  type Key,
  type ScalarValue,
} from "./node.ts";
import { fullKeyOf, type Place, rootPlace } from "./place.ts";

/** What was measured before: a graph of few nodes can be a large tree. */
export type KnownSizes = Map<ContainerNode, Size>;

/** The size of a node that is written out, with all that is below it wherever it is shared. */
export const sizeOf = (node: ConfigNode, known: KnownSizes): Size =>
  node.kind === "scalar"
    ? { values: 1, characters: charactersOf(node.value) }
    : measure(node, { known, path: [], onMeasured: () => {} });

/** What a text of the value is at least as long as. Other scalars than these have a few characters at most. */
export function charactersOf(value: ScalarValue | Key): number {
  if (typeof value === "string") return value.length;
  if (typeof value === "bigint") return value < LARGE && value > -LARGE ? 0 : String(value).length;
  if (typeof value !== "object" || value === null) return 0;
  return isPathValue(value) ? value.path.length : Math.ceil((value.length * 4) / 3);
}

const LARGE = 2n ** 64n;

/**
 * Refuses a tree in which what is shared adds more than it may to what is there once.
 * @param at where the tree stands
 * @param written how many characters are written, where that is known
 * @throws ConfigError `limit.values`, `limit.characters`, with the innermost map or list that is too large
 */
export function refuseExpansion(
  root: ConfigNode,
  limits: Limits,
  at: Place = rootPlace(root),
  written?: number,
): void {
  if (root.kind === "scalar" || (written === undefined && !isShared(root, new Set()))) return;
  const path: Key[] = [];
  let [values, characters] = [0, written ?? 0];
  const tooLarge = (of: "values" | "characters") => {
    const place = placeBelow({ ...at, node: root }, path);
    return limitError(of, limits[of], { key: fullKeyOf(place), origin: place.node.origin });
  };
  const onMeasured = (size: Size, own: Size): void => {
    values += own.values;
    if (written === undefined) characters += own.characters;
    if (size.values - values > limits.values) throw tooLarge("values");
    if (size.characters - characters > limits.characters) throw tooLarge("characters");
  };
  measure(root, { known: new Map(), path, onMeasured });
}

/** Whether a map or list stands more than once in a tree: in most nothing does, and every job of a sweep asks. */
function isShared(node: ContainerNode, met: Set<ContainerNode>): boolean {
  if (met.has(node)) return true;
  met.add(node);
  if (node.kind === "list")
    return node.items.some((item) => item.kind !== "scalar" && isShared(item, met));
  for (const { value } of node.entries.values())
    if (value.kind !== "scalar" && isShared(value, met)) return true;
  return false;
}

function placeBelow(at: Place, path: readonly Key[]): Place {
  let place = at;
  for (const key of path) {
    const node = child(place.node, key);
    if (node === undefined) return place;
    place = { kind: "place", node, parent: place, key };
  }
  return place;
}

interface Measuring {
  readonly known: KnownSizes;
  /** The keys that lead to the map or list that is measured. */
  readonly path: Key[];
  /** Told of each map and list once, those inside it first: its size, and its own part of that. */
  readonly onMeasured: (size: Size, own: Size) => void;
}

function measure(node: ContainerNode, measuring: Measuring): Size {
  const { known, path, onMeasured } = measuring;
  const before = known.get(node);
  if (before !== undefined) return before;
  refuseDepth(path.length, node);
  const own = { values: 1, characters: 0 };
  const below = { values: 0, characters: 0 };
  const add = (key: Key, value: ConfigNode): void => {
    if (value.kind === "scalar") {
      own.values++;
      own.characters += charactersOf(value.value);
      return;
    }
    path.push(key);
    const size = measure(value, measuring);
    path.pop();
    below.values += size.values;
    below.characters += size.characters;
  };
  if (node.kind === "list")
    for (const [index, item] of node.items.entries()) add(BigInt(index), item);
  else
    for (const { key, value } of node.entries.values()) {
      own.characters += charactersOf(key);
      add(key, value);
    }
  const size = {
    values: own.values + below.values,
    characters: own.characters + below.characters,
  };
  known.set(node, size);
  onMeasured(size, own);
  return size;
}
