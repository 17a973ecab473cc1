import { ConfigError } from "./errors.ts";
import type { ConfigNode, Key } from "./node.ts";
import { child } from "./node.ts";
import { fullKeyOf, rootPlace } from "./place.ts";

/**
 * What stands at one key of a map or list, which is no path; undefined where nothing does. No interpolation
 * is followed.
 * @throws ConfigError `key.invalid_type` for a key of a list that is no index
 */
export function childAt(container: ConfigNode, key: Key): ConfigNode | undefined {
  if (container.kind === "list" && typeof key !== "bigint")
    throw new ConfigError({
      code: "key.invalid_type",
      message: "ListConfig indices must be integers or slices, not str",
      key: fullKeyOf(rootPlace(container), key),
      origin: container.origin,
    });
  return child(container, key);
}
