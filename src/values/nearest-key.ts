import { splitKey } from "./key-path.ts";
import { nearest as nearestName } from "./nearest.ts";
import type { ConfigNode, MapNode } from "./node.ts";
import { keyId } from "./node.ts";

/**
 * For a key that does not exist: the keys beside the first part that is wrong, and the likely one.
 *
 * @param widest a map of more keys is not searched: for errors that may come by the thousand
 */
export function nearestKey(
  root: ConfigNode,
  key: string,
  widest = Number.POSITIVE_INFINITY,
): { readonly available: readonly string[]; readonly nearest?: string } {
  const parts = splitKey(key);
  let node: ConfigNode | undefined = root;
  for (const [index, part] of parts.entries()) {
    if (node?.kind !== "map") return { available: [] };
    const next: ConfigNode | undefined = node.entries.get(keyId(part))?.value;
    if (next === undefined)
      return node.entries.size > widest ? { available: [] } : suggest(node, parts, index);
    node = next;
  }
  return { available: [] };
}

function suggest(node: MapNode, parts: readonly string[], index: number) {
  const siblings = [...node.entries.values()].map((entry) => String(entry.key));
  const near = nearestName(parts[index] ?? "", siblings);
  const before = parts.slice(0, index);
  return {
    available: siblings.map((name) => [...before, name].join(".")),
    ...(near !== undefined && { nearest: [...before, near, ...parts.slice(index + 1)].join(".") }),
  };
}
