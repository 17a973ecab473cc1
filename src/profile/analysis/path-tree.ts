/**
 * Every path of ranges seen in a run, as a tree shared by all processes, so that the same path is one
 * object however many instances, threads or processes take it. A range stands in it with its name
 * and its NVTX domain: two libraries may well call their ranges alike.
 */
import { type Placed, storedDomains } from "../../report/model/region-path.ts";
import { createSelector, type SelectionPatterns } from "../../report/selection/range-pattern.ts";
import type { RangeKind } from "../model/timeline.ts";

/** How the range was opened; `outside` is the bucket of kernels that no range contains. */
export type RegionKind = RangeKind | "outside";

export interface PathNode {
  readonly name: string;
  readonly domain: string;
  /** Null at the root of the tree, which stands for "no range open". */
  readonly parent: PathNode | null;
  /** Null at a leaf: most nodes are leaves, and there can be many. */
  children: Children | null;
  /** The next sibling of the same name, which is of another domain. */
  sameName: PathNode | null;
  /** Regions with exactly this path; several when ranges of several kinds share it. */
  readonly regions: RegionIdentity[];
}

interface Children {
  /** In order of first appearance. */
  readonly all: PathNode[];
  /** The first of each name. */
  readonly byName: Map<string, PathNode>;
}

/** What makes a region one region in a run; the process and device are added by the scope. */
export interface RegionIdentity {
  readonly node: PathNode;
  readonly kind: RegionKind;
}

const createNode = (name: string, domain: string, parent: PathNode | null): PathNode => ({
  name,
  domain,
  parent,
  children: null,
  sameName: null,
  regions: [],
});

export const createPathTree = (): PathNode => createNode("", "", null);

/** The place of a range called `name` inside `parent`, made on first use. */
export function childNode(parent: PathNode, name: string, domain: string): PathNode {
  parent.children ??= { all: [], byName: new Map() };
  const { all, byName } = parent.children;
  let last: PathNode | null = null;
  for (let node = byName.get(name) ?? null; node !== null; node = node.sameName) {
    if (node.domain === domain) return node;
    last = node;
  }
  const node = createNode(name, domain, parent);
  if (last === null) byName.set(name, node);
  else last.sameName = node;
  all.push(node);
  return node;
}

/** The region of one kind at a path, made on first use. */
export function regionAt(node: PathNode, kind: RegionKind): RegionIdentity {
  for (const region of node.regions) if (region.kind === kind) return region;
  const region: RegionIdentity = { node, kind };
  node.regions.push(region);
  return region;
}

/** Names and domains from the outermost range to this one, as reports have them. */
export function placeOf(node: PathNode): Placed {
  const { domain } = node;
  const path: string[] = [];
  const domains: string[] = [];
  for (let at = node; at.parent !== null; at = at.parent) {
    path.push(at.name);
    domains.push(at.domain);
  }
  return { path: path.reverse(), domain, ...storedDomains(domain, domains.reverse()) };
}

/** All nodes but the root, parents before children, siblings in order of first appearance. */
export function* nodesDepthFirst(root: PathNode): Generator<PathNode> {
  const pending: PathNode[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.parent !== null) yield node;
    if (node.children === null) continue;
    for (const child of node.children.all.toReversed()) pending.push(child);
  }
}

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
