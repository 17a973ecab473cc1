/** Children of a map or list by their keys, as OmegaConf's functions take them. */

import { ConfigError } from "../errors.ts";
import { type ConfigNode, child, isMissing, type Key, type KeyId, type MapNode } from "../node.ts";
import { fullKeyOf, rootPlace } from "../place.ts";
import { pyTypeName } from "../python-text.ts";
import { listIndex } from "./assign.ts";

/**
 * The child of a map or list at one key (not a path); undefined where a map does not have the key. A negative index
 * counts from the end. No interpolation is followed.
 * @throws ConfigError `key.invalid_type` for a list key that is no index, `key.not_found` for an index out of range
 */
export function childAt(container: ConfigNode, key: Key): ConfigNode | undefined {
  if (container.kind !== "list") return child(container, key);
  const parent = rootPlace(container);
  // Python's True and False are ints.
  const index = typeof key === "boolean" ? BigInt(key) : key;
  if (typeof index !== "bigint")
    throw new ConfigError({
      code: "key.invalid_type",
      message: `ListConfig indices must be integers or slices, not ${pyTypeName(key)}`,
      key: fullKeyOf(parent, key),
      origin: container.origin,
    });
  return child(
    container,
    listIndex(container.items.length, index, { kind: "place", node: container, parent, key }),
  );
}

/**
 * `OmegaConf.is_missing`: whether a child of a map or list is `???`. It takes one key, not a path, and
 * follows no interpolation; an absent key is not missing.
 * @throws ConfigError as `childAt`
 */
export function isMissingAt(container: ConfigNode, key: Key): boolean {
  const node = childAt(container, key);
  return node !== undefined && isMissing(node);
}

/**
 * `OmegaConf.masked_copy`: the map with only those of its keys that are named, in its own order. Flags
 * and the declared type of the map itself are not copied.
 * @throws ConfigError `value.wrong_type` for a node that is no map
 */
export function maskedCopy(node: ConfigNode, keys: readonly KeyId[]): MapNode {
  const { origin } = node;
  if (node.kind !== "map")
    throw new ConfigError({
      code: "value.wrong_type",
      message: "masked_copy is only supported for DictConfig",
      origin,
    });
  const wanted = new Set(keys);
  const entries = new Map([...node.entries].filter(([id]) => wanted.has(id)));
  return { kind: "map", entries, origin };
}
