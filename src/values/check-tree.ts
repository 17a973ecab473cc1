import { ConfigError } from "./errors.ts";
import { hasInterpolation, parseInterpolation } from "./interpolation/parser.ts";
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
  } else if (typeof node.value === "string" && hasInterpolation(node.value)) check(node);
  return node;
}

function check(node: Extract<ConfigNode, { kind: "scalar" }>): void {
  try {
    parseInterpolation(String(node.value));
  } catch (error) {
    throw error instanceof ConfigError
      ? new ConfigError({ ...error.details, origin: node.origin })
      : error;
  }
}
