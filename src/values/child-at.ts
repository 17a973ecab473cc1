import { listIndex } from "./assign.ts";
import { ConfigError } from "./errors.ts";
import type { ConfigNode, Key } from "./node.ts";
import { child } from "./node.ts";
import { fullKeyOf, rootPlace } from "./place.ts";
import { pyTypeName } from "./python-text.ts";

/**
 * What stands at one key of a map or list, which is no path; undefined where a map has nothing there. A
 * negative index counts from the end. No interpolation is followed.
 * @throws ConfigError `key.invalid_type` for a key of a list that is no index, `key.not_found` for an index
 *   outside of it
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
