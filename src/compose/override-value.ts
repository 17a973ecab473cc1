import type { Override } from "../overrides/ast.ts";
import { overrideNode } from "../overrides/to-node.ts";
import { checkTree } from "../values/check-tree.ts";
import type { ConfigNode } from "../values/node.ts";

/**
 * What an override assigns, checked as OmegaConf checks a value that enters a config; null for a
 * deletion without a value.
 *
 * @throws ConfigError for a sweep inside a value (`override.sweep_not_allowed`), a null key
 * (`key.invalid_type`), an interpolation that does not parse (`interpolation.syntax`).
 */
export function overrideValue(override: Override): ConfigNode | null {
  const node = overrideNode(override);
  return node === null ? null : checkTree(node);
}
