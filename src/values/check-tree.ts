import { refuseDepth } from "./depth.ts";
import { ConfigError } from "./errors.ts";
import { parseNode } from "./interpolation/parse-node.ts";
import { isInterpolationNode } from "./interpolation/resolution.ts";
import type { ConfigNode } from "./node.ts";

/**
 * What OmegaConf checks when plain data becomes a configuration: keys of supported types and the
 * syntax of interpolations. Returns the tree.
 * @throws ConfigError `key.invalid_type`, `interpolation.syntax`, `yaml.depth_limit`
 */
export function checkTree(node: ConfigNode, depth = 0): ConfigNode {
  refuseDepth(depth, node);
  if (node.kind === "list") for (const item of node.items) checkTree(item, depth + 1);
  else if (node.kind === "map") {
    for (const { key, value } of node.entries.values()) {
      if (key === null)
        throw new ConfigError({
          code: "key.invalid_type",
          message: "Incompatible key type 'NoneType'",
          origin: value.origin,
        });
      checkTree(value, depth + 1);
    }
  } else if (isInterpolationNode(node)) parseNode(node);
  return node;
}
