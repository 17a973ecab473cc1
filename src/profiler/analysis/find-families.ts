/** Finds the families of regions (`report/model/families.ts`) in the tree of paths. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { withoutNumbers } from "../../report/model/families.ts";
import { type Placed, storedDomains } from "../../report/model/region-path.ts";
import type { PathNode, RegionIdentity, RegionKind } from "./path-tree.ts";

export interface Family {
  /** Names are those of the labels where all members have the same one, else without numbers. */
  readonly place: Placed;
  /** Of one kind. */
  readonly members: readonly [RegionIdentity, ...RegionIdentity[]];
}

/** A place of the tree of families. */
interface FamilyNode {
  /** The label of all members; null if there are several. */
  label: string | null;
  readonly plain: string;
  readonly domain: string;
  readonly children: Map<string, FamilyNode>;
  readonly members: Map<RegionKind, RegionIdentity[]>;
}

const createNode = (label: string | null, plain: string, domain: string): FamilyNode => ({
  label,
  plain,
  domain,
  children: new Map(),
  members: new Map(),
});

/** Families of several regions, and what is inside them, depth first. @param regions those of a scope, depth first */
export function familiesOf(regions: readonly RegionIdentity[]): readonly Family[] {
  const root = createNode(null, "", "");
  const familyNodes = new Map<PathNode, FamilyNode>();
  const nodeOf = (node: PathNode): FamilyNode => {
    if (node.parent === null) return root;
    const found = familyNodes.get(node);
    if (found !== undefined) return found;
    const { name, domain } = node;
    const plain = withoutNumbers(name);
    const familyNode = getOrCreate(nodeOf(node.parent).children, `${domain}\0${plain}`, () =>
      createNode(name, plain, domain),
    );
    if (familyNode.label !== name) familyNode.label = null;
    familyNodes.set(node, familyNode);
    return familyNode;
  };
  for (const region of regions)
    getOrCreate(nodeOf(region.node).members, region.kind, () => []).push(region);
  return [...familiesBelow(root, { path: [], domains: [], isOfSeveral: false })];
}

interface Around {
  readonly path: readonly string[];
  readonly domains: readonly string[];
  readonly isOfSeveral: boolean;
}

function* familiesBelow(
  around: FamilyNode,
  { path, domains, isOfSeveral }: Around,
): Generator<Family> {
  for (const node of around.children.values()) {
    const { label, plain, domain } = node;
    const here = {
      path: [...path, label ?? plain],
      domains: [...domains, domain],
      isOfSeveral: isOfSeveral || label === null,
    };
    if (here.isOfSeveral)
      for (const [first, ...others] of node.members.values())
        if (first !== undefined)
          yield {
            place: { path: here.path, domain, ...storedDomains(domain, here.domains) },
            members: [first, ...others],
          };
    yield* familiesBelow(node, here);
  }
}
