import { childAt } from "./child-at.ts";
import type { ConfigNode, Key } from "./node.ts";
import { isMissing } from "./node.ts";

/**
 * `OmegaConf.is_missing`: whether a child of a map or list is `???`. It takes one key, not a path, and
 * follows no interpolation; what is not there is not missing.
 * @throws ConfigError as `childAt`
 */
export function isMissingAt(container: ConfigNode, key: Key): boolean {
  const node = childAt(container, key);
  return node !== undefined && isMissing(node);
}
