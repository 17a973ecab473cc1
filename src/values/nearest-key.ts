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
    if (next === undefined) {
      if (node.entries.size > widest) return { available: [] };
      const found = suggest(root, node, parts, index);
      const elsewhere = found.nearest === undefined && keysThatEndWith(root, parts);
      return elsewhere && elsewhere.length > 0
        ? { available: elsewhere, ...(elsewhere.length === 1 && { nearest: elsewhere[0] }) }
        : found;
    }
    node = next;
  }
  return { available: [] };
}

/** Trees are searched for a key as far as this; who names one by its end knows a small tree. */
const MOST_SEARCHED = 5_000;

/** `ncu.enable` for `pipeline.ncu.enable`: the keys of values that end as the key does, those of `hydra` if there are no others. */
function keysThatEndWith(root: ConfigNode, parts: readonly string[]): readonly string[] {
  const found: (readonly string[])[] = [];
  const level: { node: ConfigNode; path: readonly string[] }[] = [{ node: root, path: [] }];
  for (const { node, path } of level) {
    if (node.kind !== "map") continue;
    if (level.length + node.entries.size > MOST_SEARCHED) break;
    for (const { key, value } of node.entries.values()) {
      const below = [...path, String(key)];
      const isMeant = parts.every((part, index) => part === below.at(index - parts.length));
      if (isMeant && value.kind !== "map") found.push(below);
      level.push({ node: value, path: below });
    }
  }
  const own = found.filter(([first]) => first !== "hydra");
  return (own.length > 0 ? own : found).map((path) => path.join("."));
}

function suggest(root: ConfigNode, node: MapNode, parts: readonly string[], index: number) {
  const entries = [...node.entries.values()];
  const siblings = entries.map((entry) => String(entry.key));
  // Below a plain value there is nothing that could have been meant.
  const isLast = index === parts.length - 1;
  const near = nearestName(
    parts[index] ?? "",
    siblings.filter((_, at) => isLast || entries[at]?.value.kind !== "scalar"),
  );
  const before = parts.slice(0, index);
  const likely =
    near === undefined ? undefined : [...before, near, ...parts.slice(index + 1)].join(".");
  // A key of another type is named by the same text.
  const isSame = near === parts[index];
  const nearest = likely === undefined || isSame ? likely : likelyOrNearer(root, likely);
  return {
    available: siblings.map((name) => [...before, name].join(".")),
    ...(nearest !== undefined && { nearest }),
  };
}

/** What follows the part that is wrong may be wrong as well. */
function likelyOrNearer(root: ConfigNode, likely: string): string | undefined {
  const { available, nearest } = nearestKey(root, likely);
  return available.length === 0 ? likely : nearest;
}
