/**
 * All paths of ranges in a run, as a tree shared by all processes, so that each path is one object for all its
 * instances, threads and processes. A node has a name and an NVTX domain, since two libraries may use the same name.
 */
import { withoutNumbers } from "../../report/model/families.ts";
import { type Placed, storedDomains } from "../../report/model/region-path.ts";
import { createSelector, type SelectionPatterns } from "../../report/selection/range-pattern.ts";
import type { RangeKind } from "../model/timeline.ts";
import { type FoldRules, LESS_TIMES, MANY_TIMES } from "./labels.ts";

/** How the range was opened; `outside` is the bucket of kernels outside all ranges. */
export type RegionKind = RangeKind | "outside";

export interface PathNode {
  readonly name: string;
  readonly domain: string;
  /** Null for the root of the tree, which stands for "no range open". */
  readonly parent: PathNode | null;
  /** Null for a leaf: most nodes are leaves, and there may be many. */
  children: Children | null;
  /** The next sibling with the same name, in another domain. */
  sameName: PathNode | null;
  /** The first region with exactly this path; there are several if ranges of several kinds have it. */
  region: RegionIdentity | null;
  /** The node into which this one was merged, because their labels differ only in numbers. */
  foldedInto: PathNode | null;
  readonly tree: Tree;
}

interface Children {
  /** In order of first appearance. */
  all: PathNode[];
  /** The first node of each name. */
  readonly byName: Map<string, PathNode>;
}

/** Labels of one domain that differ only in numbers. */
interface Family {
  /** Empty once they are folded. */
  readonly labels: Set<string>;
  /** Their nodes, anywhere in the tree. */
  nodes: PathNode[];
  folded: boolean;
}

/** The state shared by the nodes of one tree. */
interface Tree {
  readonly fold: FoldRules | null;
  /** By domain and label without numbers. */
  readonly families: Map<string, Family>;
  /** Folded labels. */
  readonly folded: Set<string>;
  /** The maximum number of labels of a family that are kept; it is lowered at most once. */
  most: number;
  /** The number of numbered labels in all families, including those of folded ones up to their folding. */
  numbered: number;
  /** The number of regions, including merged ones. */
  regionCount: number;
}

/** The identity of a region in a run; the scope adds the process and device. */
export interface RegionIdentity {
  readonly node: PathNode;
  readonly kind: RegionKind;
  /** Numbered from 0 in the tree. */
  readonly number: number;
  /**
   * The next region with the same path. A linked list takes 8 bytes for each of a million regions; arrays of one
   * element take 200.
   */
  next: RegionIdentity | null;
}

const createNode = (
  name: string,
  domain: string,
  parent: PathNode | null,
  tree: Tree,
): PathNode => ({
  name,
  domain,
  parent,
  children: null,
  sameName: null,
  region: null,
  foldedInto: null,
  tree,
});

/** @param fold when labels that differ only in numbers are folded; null: never */
export const createPathTree = (fold: FoldRules | null = null): PathNode =>
  createNode("", "", null, {
    fold,
    families: new Map(),
    folded: new Set(),
    most: fold?.most ?? 0,
    numbered: 0,
    regionCount: 0,
  });

/** The folded labels of the tree, such as `step_#`, in order of first appearance. */
export const foldedLabels = ({ tree }: PathNode): readonly string[] => [...tree.folded];

/** The node of a range inside `parent`, created on first use. */
export function childNode(parent: PathNode, name: string, domain: string): PathNode {
  const around = latestNode(parent);
  const existing = find(around, name, domain);
  if (existing !== null) return existing;
  const family = familyOf(around.tree, name, domain);
  if (family === null) return add(around, name, domain);
  if (!family.folded) {
    const node = add(around, name, domain);
    addMember(around.tree, family, node);
    return latestNode(node);
  }
  const plain = withoutNumbers(name);
  return find(around, plain, domain) ?? add(around, plain, domain);
}

function find({ children }: PathNode, name: string, domain: string): PathNode | null {
  for (let node = children?.byName.get(name) ?? null; node !== null; node = node.sameName)
    if (node.domain === domain) return node;
  return null;
}

function add(parent: PathNode, name: string, domain: string): PathNode {
  const node = createNode(name, domain, parent, parent.tree);
  parent.children ??= { all: [], byName: new Map() };
  node.sameName = parent.children.byName.get(name) ?? null;
  parent.children.byName.set(name, node);
  parent.children.all.push(node);
  return node;
}

/** Null for a label without numbers, and for one that must be kept. */
function familyOf({ fold, families }: Tree, name: string, domain: string): Family | null {
  if (fold === null) return null;
  const plain = withoutNumbers(name);
  if (plain === name || fold.isKept?.(domain, name, plain) === true) return null;
  const key = `${domain}\0${plain}`;
  let family = families.get(key);
  if (family === undefined) {
    family = { labels: new Set(), nodes: [], folded: false };
    families.set(key, family);
  }
  return family;
}

/** The decision depends only on which labels there are, not on their order. */
function addMember(tree: Tree, family: Family, node: PathNode): void {
  const labelsBefore = family.labels.size;
  family.labels.add(node.name);
  family.nodes.push(node);
  tree.numbered += family.labels.size - labelsBefore;
  const { most } = tree.fold ?? tree;
  if (tree.most === most && tree.numbered > MANY_TIMES * most) {
    tree.most = Math.ceil(most / LESS_TIMES);
    for (const each of tree.families.values())
      if (!each.folded && each.labels.size > tree.most) foldFamily(tree, each);
  }
  if (!family.folded && family.labels.size > tree.most) foldFamily(tree, family);
}

/** Merges all nodes of a family that have the same parent into the first of them, including their descendants. */
function foldFamily(tree: Tree, family: Family): void {
  const { nodes } = family;
  family.folded = true;
  family.labels.clear();
  family.nodes = [];
  const gone = new Set(nodes);
  const parents = new Set(nodes.flatMap(({ parent }) => parent ?? []));
  for (const parent of parents) {
    const { children } = parent;
    const members = children?.all.filter((child) => gone.has(child)) ?? [];
    const [first] = members;
    // Those that were merged before have no children.
    if (children === null || first === undefined) continue;
    const plain = withoutNumbers(first.name);
    tree.folded.add(plain);
    const existing = find(parent, plain, first.domain);
    const node = existing ?? add(parent, plain, first.domain);
    // A new node has just been added at the end.
    if (existing === null) children.all.pop();
    children.all = children.all.flatMap((child) => {
      if (child === first && existing === null) return [node];
      return gone.has(child) ? [] : [child];
    });
    // They can still be found by their names, as what stands for `node`.
    for (const member of members) mergeInto(member, node);
  }
}

function mergeInto(from: PathNode, into: PathNode): void {
  from.foldedInto = into;
  for (let identity = from.region; identity !== null; identity = identity.next)
    regionAt(into, identity.kind);
  const { children } = from;
  from.children = null;
  for (const child of children?.all ?? [])
    mergeInto(child, childNode(into, child.name, child.domain));
}

/** The node into which a node was merged, or itself. */
function latestNode(node: PathNode): PathNode {
  let current = node;
  while (current.foldedInto !== null) current = current.foldedInto;
  return current;
}

/** The region into which a region was merged, or itself. */
export const latestRegion = (region: RegionIdentity): RegionIdentity =>
  region.node.foldedInto === null ? region : regionAt(latestNode(region.node), region.kind);

/** The region of a kind at a path, created on first use. */
export function regionAt(node: PathNode, kind: RegionKind): RegionIdentity {
  const latest = latestNode(node);
  let last: RegionIdentity | null = null;
  for (let identity = latest.region; identity !== null; identity = identity.next) {
    if (identity.kind === kind) return identity;
    last = identity;
  }
  const region = { node: latest, kind, number: latest.tree.regionCount++, next: null };
  if (last === null) latest.region = region;
  else last.next = region;
  return region;
}

/** Names and domains from the outermost range to this one, as in reports. */
export function rangePath(node: PathNode): Placed {
  const { domain } = node;
  const path: string[] = [];
  const domains: string[] = [];
  for (
    let current = latestNode(node);
    current.parent !== null;
    current = latestNode(current.parent)
  ) {
    path.push(current.name);
    domains.push(current.domain);
  }
  return { path: path.reverse(), domain, ...storedDomains(domain, domains.reverse()) };
}

/** All nodes but the root, parents before children, siblings in order of first appearance. */
export function* nodesDepthFirst(root: PathNode): Generator<PathNode> {
  // Iterators over the lists, which are not copied: one may contain a million nodes.
  const lists = [{ nodes: root.children?.all ?? [], next: 0 }];
  for (let list = lists.at(-1); list !== undefined; list = lists.at(-1)) {
    const node = list.nodes[list.next++];
    if (node === undefined) {
      lists.pop();
      continue;
    }
    yield node;
    if (node.children !== null) lists.push({ nodes: node.children.all, next: 0 });
  }
}

export type SelectedNodes = Pick<ReadonlySet<PathNode>, "has">;

/** The places that a selection shows. Searched top down, since everything inside a match is selected. */
export function selectNodes(root: PathNode, patterns: SelectionPatterns): SelectedNodes {
  // There may be a million.
  if (patterns.include.length + patterns.exclude.length === 0) return { has: () => true };
  const selector = createSelector(patterns);
  const included = new Set<PathNode | null>();
  const excluded = new Set<PathNode | null>();
  const selected = new Set<PathNode>();
  for (const node of nodesDepthFirst(root)) {
    const { parent, name, domain } = node;
    if (included.has(parent) || selector.includes(domain, name)) included.add(node);
    if (excluded.has(parent) || selector.excludes(domain, name)) excluded.add(node);
    if (included.has(node) && !excluded.has(node)) selected.add(node);
  }
  return selected;
}
