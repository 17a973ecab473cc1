import { createSelector, type SelectionPatterns } from "../../report/selection/range-pattern.ts";
import { nodesDepthFirst, type PathNode } from "./path-tree.ts";

export type SelectedNodes = ReadonlySet<PathNode>;

/** The places that a selection shows, found top down: what is inside a match follows it. */
export function selectNodes(root: PathNode, patterns: SelectionPatterns): SelectedNodes {
  const selector = createSelector(patterns);
  const included = new Set<PathNode>();
  const excluded = new Set<PathNode>();
  const selected = new Set<PathNode>();
  for (const node of nodesDepthFirst(root)) {
    const { parent, name, domain } = node;
    if ((parent !== null && included.has(parent)) || selector.includes(domain, name))
      included.add(node);
    if ((parent !== null && excluded.has(parent)) || selector.excludes(domain, name))
      excluded.add(node);
    if (included.has(node) && !excluded.has(node)) selected.add(node);
  }
  return selected;
}
