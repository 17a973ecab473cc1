/**
 * Every path of range names seen in a run, as a tree of names shared by all processes, so that the
 * same path is one object however many instances, threads or processes take it.
 */
import type { RangeKind } from "../timeline.ts";

/** How the range was opened; `outside` is the bucket of kernels that no range contains. */
export type RegionKind = RangeKind | "outside";

export interface PathNode {
  readonly name: string;
  /** Null at the root of the tree, which stands for "no range open". */
  readonly parent: PathNode | null;
  /** In order of first appearance; null at a leaf: most nodes are leaves, and there can be many. */
  children: Map<string, PathNode> | null;
  /** NVTX domains of the ranges that stood at this place, each once. */
  readonly domains: string[];
  /** Regions with exactly this path; several when ranges of several domains or kinds share it. */
  readonly regions: RegionIdentity[];
}

/** What makes a region one region in a run; the process and device are added by the scope. */
export interface RegionIdentity {
  readonly node: PathNode;
  readonly domain: string;
  readonly kind: RegionKind;
}

const createNode = (name: string, parent: PathNode | null): PathNode => ({
  name,
  parent,
  children: null,
  domains: [],
  regions: [],
});

export const createPathTree = (): PathNode => createNode("", null);

/** The place of a range called `name` inside `parent`, made on first use. */
export function childNode(parent: PathNode, name: string, domain: string): PathNode {
  parent.children ??= new Map();
  let node = parent.children.get(name);
  if (node === undefined) {
    node = createNode(name, parent);
    parent.children.set(name, node);
  }
  if (!node.domains.includes(domain)) node.domains.push(domain);
  return node;
}

/** The region of one domain and kind at a path, made on first use. */
export function regionAt(node: PathNode, domain: string, kind: RegionKind): RegionIdentity {
  for (const region of node.regions)
    if (region.domain === domain && region.kind === kind) return region;
  const region: RegionIdentity = { node, domain, kind };
  node.regions.push(region);
  return region;
}

/** Names from the outermost range to this one. */
export function pathOf(node: PathNode): readonly string[] {
  const names: string[] = [];
  for (let at = node; at.parent !== null; at = at.parent) names.push(at.name);
  return names.reverse();
}

/** All nodes but the root, parents before children, siblings in order of first appearance. */
export function* nodesDepthFirst(root: PathNode): Generator<PathNode> {
  const pending: PathNode[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.parent !== null) yield node;
    if (node.children === null) continue;
    for (const child of [...node.children.values()].reverse()) pending.push(child);
  }
}
