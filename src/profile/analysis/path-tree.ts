/**
 * Every path of ranges seen in a run, as a tree shared by all processes, so that the same path is one
 * object however many instances, threads or processes take it. A range stands in it with its name
 * and its NVTX domain: two libraries may well call their ranges alike.
 */
import { type Placed, storedDomains } from "../../report/model/region-path.ts";
import { createSelector, type SelectionPatterns } from "../../report/selection/range-pattern.ts";
import type { RangeKind } from "../model/timeline.ts";
import { type FoldRules, LESS_TIMES, MANY_TIMES, withoutNumbers } from "./labels.ts";

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
  /** The first region with exactly this path: there are several when ranges of several kinds share it. */
  region: RegionIdentity | null;
  /** The node that has become this one's, too: their labels differ only in numbers. */
  foldedInto: PathNode | null;
  readonly tree: Tree;
}

interface Children {
  /** In order of first appearance. */
  all: PathNode[];
  /** The first of each name. */
  readonly byName: Map<string, PathNode>;
}

/** Labels of one domain that differ only in numbers. */
interface Family {
  /** Empty once they are folded. */
  readonly labels: Set<string>;
  /** Their nodes, wherever they are in the tree. */
  nodes: PathNode[];
  folded: boolean;
}

/** What the nodes of one tree share. */
interface Tree {
  readonly fold: FoldRules | null;
  /** By label without numbers and domain. */
  readonly families: Map<string, Family>;
  /** Labels that stand for several. */
  readonly folded: Set<string>;
  /** So many of a family stay as they are: it falls once. */
  most: number;
  /** In all families, of folded ones as many as it took. */
  numbered: number;
  /** Of regions, those that have become others as well. */
  regionCount: number;
}

/** What makes a region one region in a run; the process and device are added by the scope. */
export interface RegionIdentity {
  readonly node: PathNode;
  readonly kind: RegionKind;
  /** Counts up in the tree, from 0. */
  readonly number: number;
  /** With the same path. A list as this one takes 8 bytes for each of a million regions, arrays of one take 200. */
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

/** @param fold when labels that differ only in numbers become one; null: never */
export const createPathTree = (fold: FoldRules | null = null): PathNode =>
  createNode("", "", null, {
    fold,
    families: new Map(),
    folded: new Set(),
    most: fold?.most ?? 0,
    numbered: 0,
    regionCount: 0,
  });

/** Labels of the tree that stand for several: `step_#`. In order of first appearance. */
export const foldedLabels = ({ tree }: PathNode): readonly string[] => [...tree.folded];

/** The place of a range called `name` inside `parent`, made on first use. */
export function childNode(parent: PathNode, name: string, domain: string): PathNode {
  const around = latestNode(parent);
  const known = find(around, name, domain);
  if (known !== null) return known;
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

/** Null for a label without numbers, and for one that has to stay as it is. */
function familyOf({ fold, families }: Tree, name: string, domain: string): Family | null {
  if (fold === null) return null;
  const plain = withoutNumbers(name);
  if (plain === name || fold.isKept?.(domain, name, plain) === true) return null;
  const key = domain === "" ? plain : `${domain}\0${plain}`;
  let family = families.get(key);
  if (family === undefined) {
    family = { labels: new Set(), nodes: [], folded: false };
    families.set(key, family);
  }
  return family;
}

/** The decision depends on which labels there are, never on their order. */
function addMember(tree: Tree, family: Family, node: PathNode): void {
  const before = family.labels.size;
  family.labels.add(node.name);
  family.nodes.push(node);
  tree.numbered += family.labels.size - before;
  const { most } = tree.fold ?? tree;
  if (tree.most === most && tree.numbered > MANY_TIMES * most) {
    tree.most = Math.ceil(most / LESS_TIMES);
    for (const each of tree.families.values())
      if (!each.folded && each.labels.size > tree.most) foldFamily(tree, each);
  }
  if (!family.folded && family.labels.size > tree.most) foldFamily(tree, family);
}

/** Makes one node of all of a family inside one parent, at the place of its first. What is inside them is merged. */
function foldFamily(tree: Tree, family: Family): void {
  const { nodes } = family;
  family.folded = true;
  family.labels.clear();
  family.nodes = [];
  const gone = new Set(nodes.filter(({ foldedInto }) => foldedInto === null));
  const parents = new Set([...gone].flatMap(({ parent }) => parent ?? []));
  for (const parent of parents) {
    const { children } = parent;
    const [first, ...others] = children?.all.filter((child) => gone.has(child)) ?? [];
    if (children === null || first === undefined) continue;
    const plain = withoutNumbers(first.name);
    tree.folded.add(plain);
    const known = find(parent, plain, first.domain);
    const node = known ?? add(parent, plain, first.domain);
    // A new one is at the end now.
    if (known === null) children.all.pop();
    children.all = children.all.flatMap((child) => {
      if (child === first && known === null) return [node];
      return gone.has(child) ? [] : [child];
    });
    for (const member of [first, ...others]) {
      unlink(children, member);
      mergeInto(member, node);
    }
  }
}

function unlink({ byName }: Children, node: PathNode): void {
  const others: PathNode[] = [];
  for (let at = byName.get(node.name) ?? null; at !== null; at = at.sameName)
    if (at !== node) others.push(at);
  byName.delete(node.name);
  for (const other of others) {
    other.sameName = byName.get(node.name) ?? null;
    byName.set(node.name, other);
  }
}

function mergeInto(from: PathNode, into: PathNode): void {
  from.foldedInto = into;
  for (let at = from.region; at !== null; at = at.next) regionAt(into, at.kind);
  const { children } = from;
  from.children = null;
  for (const child of children?.all ?? [])
    mergeInto(child, childNode(into, child.name, child.domain));
}

/** What a node has become. */
export function latestNode(node: PathNode): PathNode {
  let at = node;
  while (at.foldedInto !== null) at = at.foldedInto;
  return at;
}

/** What a region has become. */
export const latestRegion = (region: RegionIdentity): RegionIdentity =>
  region.node.foldedInto === null ? region : regionAt(latestNode(region.node), region.kind);

/** The region of one kind at a path, made on first use. */
export function regionAt(node: PathNode, kind: RegionKind): RegionIdentity {
  const latest = latestNode(node);
  let last: RegionIdentity | null = null;
  for (let at = latest.region; at !== null; at = at.next) {
    if (at.kind === kind) return at;
    last = at;
  }
  const region = { node: latest, kind, number: latest.tree.regionCount++, next: null };
  if (last === null) latest.region = region;
  else last.next = region;
  return region;
}

/** Names and domains from the outermost range to this one, as reports have them. */
export function placeOf(node: PathNode): Placed {
  const { domain } = node;
  const path: string[] = [];
  const domains: string[] = [];
  for (let at = latestNode(node); at.parent !== null; at = latestNode(at.parent)) {
    path.push(at.name);
    domains.push(at.domain);
  }
  return { path: path.reverse(), domain, ...storedDomains(domain, domains.reverse()) };
}

/** All nodes but the root, parents before children, siblings in order of first appearance. */
export function* nodesDepthFirst(root: PathNode): Generator<PathNode> {
  // Lists that are not at their end, and not copied: there can be a million nodes in one.
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

/** The places that a selection shows, found top down: what is inside a match follows it. */
export function selectNodes(root: PathNode, patterns: SelectionPatterns): SelectedNodes {
  // There can be a million.
  if (patterns.include.length + patterns.exclude.length === 0) return { has: () => true };
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
