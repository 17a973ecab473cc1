/** The keys in which two configs differ. */

import { isBytes } from "../../foundation/system/builtin-types.ts";
import { compareBytes } from "../../foundation/text/bytes.ts";
import { type ConfigNode, isPathValue, type Key, type ScalarValue } from "./node.ts";

/** A value of a tree at its key. */
export interface KeyedNode {
  readonly path: readonly Key[];
  readonly node: ConfigNode;
}

/** One key in which two configs differ. Its values are nodes: the `value` of an int is a BigInt, that of a float a number. */
export type Difference = { readonly path: readonly Key[] } & (
  | { readonly kind: "changed"; readonly before: ConfigNode; readonly after: ConfigNode }
  | { readonly kind: "added"; readonly before?: never; readonly after: ConfigNode }
  | { readonly kind: "removed"; readonly before: ConfigNode; readonly after?: never }
);

/**
 * The differences by key, in the order of `before`; added keys follow the other keys of their map. A list counts as one
 * value, as in Hydra, where a merge replaces it as a whole. The order of keys does not count; the type does: `1` and
 * `1.0` differ.
 */
export function diffConfigs(
  older: ConfigNode,
  after: ConfigNode,
  path: readonly Key[] = [],
): readonly Difference[] {
  if (older.kind !== "map" || after.kind !== "map")
    return sameValue(older, after) ? [] : [{ kind: "changed", path, before: older, after }];
  const kept = [...older.entries].flatMap(([id, { key, value }]): readonly Difference[] => {
    const now = after.entries.get(id)?.value;
    const childPath = [...path, key];
    if (now !== undefined) return diffConfigs(value, now, childPath);
    return leavesOfMaps(value, childPath).map(({ path, node }) => ({
      kind: "removed",
      path,
      before: node,
    }));
  });
  const added = [...after.entries]
    .filter(([id]) => !older.entries.has(id))
    .flatMap(([, { key, value }]) => leavesOfMaps(value, [...path, key]))
    .map(({ path, node }): Difference => ({ kind: "added", path, after: node }));
  return [...kept, ...added];
}

/** The leaves of nested maps. A list is a leaf, and so is an empty map. */
function leavesOfMaps(node: ConfigNode, path: readonly Key[]): readonly KeyedNode[] {
  if (node.kind !== "map" || node.entries.size === 0) return [{ path, node }];
  return [...node.entries.values()].flatMap(({ key, value }) =>
    leavesOfMaps(value, [...path, key]),
  );
}

function sameValue(a: ConfigNode, b: ConfigNode): boolean {
  if (a === b) return true;
  if (a.kind === "scalar" && b.kind === "scalar") return sameScalar(a.value, b.value);
  if (a.kind === "list" && b.kind === "list")
    return (
      a.items.length === b.items.length &&
      a.items.every((item, index) => {
        const other = b.items[index];
        return other !== undefined && sameValue(item, other);
      })
    );
  return a.kind === "map" && b.kind === "map" && diffConfigs(a, b).length === 0;
}

function sameScalar(a: ScalarValue, b: ScalarValue): boolean {
  if (isBytes(a) && isBytes(b)) return compareBytes(a, b) === 0;
  if (isPathValue(a) && isPathValue(b)) return a.path === b.path;
  return Object.is(a, b);
}
