import { ConfigError } from "./errors.ts";
import { parseNode } from "./interpolation/parse-node.ts";
import { isInterpolationNode } from "./interpolation/resolution.ts";
import type { ConfigNode } from "./node.ts";

/**
 * What OmegaConf checks when plain data becomes a configuration: keys of supported types and the
 * syntax of interpolations. Returns the tree.
 * @throws ConfigError `key.invalid_type`, `interpolation.syntax`
 */
export function checkTree(node: ConfigNode): ConfigNode {
  if (node.kind === "list") for (const item of node.items) checkTree(item);
  else if (node.kind === "map") {
    for (const { key, value } of node.entries.values()) {
      if (key === null)
        throw new ConfigError({
          code: "key.invalid_type",
          message: "Incompatible key type 'NoneType'",
          origin: value.origin,
        });
      checkTree(value);
    }
  } else if (isInterpolationNode(node)) parseNode(node);
  return node;
}
