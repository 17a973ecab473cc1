import type { KeyId, MapNode } from "./node.ts";

/** `OmegaConf.masked_copy`: the map with only those of its keys that are named, in its own order. */
export function maskedCopy(node: MapNode, keys: readonly KeyId[]): MapNode {
  const wanted = new Set(keys);
  return { ...node, entries: new Map([...node.entries].filter(([id]) => wanted.has(id))) };
}
