import { refuseDepth } from "./depth.ts";
import { ConfigError } from "./errors.ts";
import type { SharedTexts } from "./interpolation/parse-node.ts";
import { createSharedTexts, parseNode } from "./interpolation/parse-node.ts";
import { isInterpolationNode } from "./interpolation/resolution.ts";
import type { ConfigNode } from "./node.ts";

/**
 * What OmegaConf checks when plain data becomes a configuration: keys of supported types and the
 * syntax of interpolations. Returns the tree.
 * @throws ConfigError `key.invalid_type`, `interpolation.syntax`, `yaml.depth_limit`
 */
export function checkTree(node: ConfigNode): ConfigNode {
  check(node, 0, createSharedTexts());
  return node;
}

function check(node: ConfigNode, depth: number, shared: SharedTexts): void {
  refuseDepth(depth, node);
  if (node.kind === "list") for (const item of node.items) check(item, depth + 1, shared);
  else if (node.kind === "map") {
    for (const { key, value } of node.entries.values()) {
      if (key === null)
        throw new ConfigError({
          code: "key.invalid_type",
          message: "Incompatible key type 'NoneType'",
          origin: value.origin,
        });
      check(value, depth + 1, shared);
    }
  } else if (isInterpolationNode(node)) parseNode(node, shared);
}
