import type { ConfigNode } from "./node.ts";

/** The node with another one at the end of its chain of what it took the place of. */
export function replacing(node: ConfigNode, replaced: ConfigNode | undefined): ConfigNode {
  if (replaced === undefined || replaced === node) return node;
  const chain: ConfigNode[] = [];
  for (let at: ConfigNode | undefined = node; at !== undefined; at = at.replaced) {
    if (at === replaced) return node;
    chain.push(at);
  }
  return chain.reduceRight((tail, link) => ({ ...link, replaced: tail }), replaced);
}
