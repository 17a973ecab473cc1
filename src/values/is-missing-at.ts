import { ConfigError } from "./errors.ts";
import type { ConfigNode, Key } from "./node.ts";
import { child, isMissing } from "./node.ts";
import { fullKeyOf, rootPlace } from "./place.ts";

/**
 * `OmegaConf.is_missing`: whether a child of a map or list is `???`. It takes one key, not a path, and
 * follows no interpolation; what is not there is not missing.
 * @throws ConfigError `key.invalid_type` for a key of a list that is no index
 */
export function isMissingAt(container: ConfigNode, key: Key): boolean {
  if (container.kind === "list" && typeof key !== "bigint")
    throw new ConfigError({
      code: "key.invalid_type",
      message: "ListConfig indices must be integers or slices, not str",
      key: fullKeyOf(rootPlace(container), key),
      origin: container.origin,
    });
  const node = child(container, key);
  return node !== undefined && isMissing(node);
}
