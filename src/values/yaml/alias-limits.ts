import type { Limits } from "../limits.ts";
import { type ConfigNode, MAX_TREE_DEPTH } from "../node.ts";
import type { SourceText } from "../origin.ts";
import { refuseExpansion } from "../size.ts";
import { refusal } from "./refusal.ts";

/**
 * Refuses aliases that contain themselves, that nest too deep, and aliases of aliases that multiply. The tree shares
 * aliased nodes and is small; but whoever walks it meets every occurrence.
 */
export function checkAliases(root: ConfigNode, source: SourceText, limits: Limits): void {
  const heights = new Map<ConfigNode, number>();
  const open = new Set<ConfigNode>();

  function measure(node: ConfigNode, depth: number): number {
    if (node.kind === "scalar") return 0;
    const known = heights.get(node);
    if (depth + (known ?? 0) > MAX_TREE_DEPTH) throw tooDeep(node);
    if (known !== undefined) return known;
    if (open.has(node)) throw recursive(node);
    open.add(node);
    let height = 0;
    for (const inner of childrenOf(node)) height = Math.max(height, 1 + measure(inner, depth + 1));
    open.delete(node);
    heights.set(node, height);
    return height;
  }

  const recursive = (node: ConfigNode) =>
    refusal(source, {
      code: "yaml.alias_limit",
      problem: "an alias inside this value refers to the value itself",
      ...spanOf(node),
    });

  const tooDeep = (node: ConfigNode) =>
    refusal(source, {
      code: "yaml.depth_limit",
      problem: `aliases nest the document more than ${MAX_TREE_DEPTH} levels deep`,
      ...spanOf(node),
    });

  measure(root, 0);
  // Escapes and folding only make a text shorter than it is written.
  refuseExpansion(root, limits, undefined, source.text.length);
}

function* childrenOf(node: ConfigNode): Generator<ConfigNode> {
  if (node.kind === "list") yield* node.items;
  else if (node.kind === "map") for (const { value } of node.entries.values()) yield value;
}

function spanOf({ origin }: ConfigNode): { start: number; end: number } {
  if (origin.kind === "file") return { start: origin.start, end: origin.end };
  return { start: 0, end: 0 };
}
