import { ConfigError } from "./errors.ts";
import type { ConfigNode, KeyId, MapNode } from "./node.ts";

/**
 * `OmegaConf.masked_copy`: the map with only those of its keys that are named, in its own order. Flags
 * and the declared type of the map itself are not copied.
 * @throws ConfigError `value.wrong_type` for what is no map
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
