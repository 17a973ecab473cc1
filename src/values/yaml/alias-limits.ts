import { type ConfigNode, MAX_TREE_DEPTH } from "../node.ts";
import type { SourceText } from "../origin.ts";
import { refusal } from "./refusal.ts";

/**
 * How many nodes aliases may add to those that are written: enough for any config, and far below
 * what a "billion laughs" document expands to.
 */
const MAX_EXPANDED_NODES = 1_000_000;

/**
 * Refuses aliases that contain themselves and aliases of aliases that multiply. The tree shares
 * aliased nodes and is small; but whoever walks it meets every occurrence.
 */
export function checkAliases(root: ConfigNode, source: SourceText): void {
  const sizes = new Map<ConfigNode, number>();
  const heights = new Map<ConfigNode, number>();
  const open = new Set<ConfigNode>();

  function measure(node: ConfigNode, depth: number): number {
    const known = sizes.get(node);
    if (known !== undefined) {
      if (depth + (heights.get(node) ?? 0) > MAX_TREE_DEPTH) throw tooDeep(node);
      return known;
    }
    if (node.kind === "scalar") return 1;
    if (open.has(node)) throw limit(node, "an alias inside this value refers to the value itself");
    if (depth > MAX_TREE_DEPTH) throw tooDeep(node);
    open.add(node);
    let size = 1;
    let height = 0;
    for (const inner of childrenOf(node)) {
      size += measure(inner, depth + 1);
      height = Math.max(height, 1 + (heights.get(inner) ?? 0));
    }
    open.delete(node);
    sizes.set(node, size);
    heights.set(node, height);
    return size;
  }

  const limit = (node: ConfigNode, problem: string) =>
    refusal(source, { code: "yaml.alias_limit", problem, ...spanOf(node) });

  const tooDeep = (node: ConfigNode) =>
    refusal(source, {
      code: "yaml.depth_limit",
      problem: `aliases nest the document more than ${MAX_TREE_DEPTH} levels deep`,
      ...spanOf(node),
    });

  const expanded = measure(root, 0);
  let written = 0;
  for (const node of sizes.keys()) written += node.kind === "list" ? node.items.length : 1;
  if (expanded - written > MAX_EXPANDED_NODES)
    throw limit(root, `aliases expand to more than ${MAX_EXPANDED_NODES} values`);
}

function* childrenOf(node: ConfigNode): Generator<ConfigNode> {
  if (node.kind === "list") yield* node.items;
  else if (node.kind === "map") for (const { value } of node.entries.values()) yield value;
}

function spanOf({ origin }: ConfigNode): { start: number; end: number } {
  if (origin.kind === "file") return { start: origin.start, end: origin.end };
  return { start: 0, end: 0 };
}
