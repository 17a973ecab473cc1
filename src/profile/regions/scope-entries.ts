/** What scopes have in common, whoever measured them: the order of their regions, their sums, and what a selection hides. */
import { partOf } from "../../text/plural.ts";
import type { RegionModelEntry, ScopeTotals } from "./model.ts";
import { nodesDepthFirst, type PathNode, type RegionIdentity } from "./path-tree.ts";
import type { SelectedNodes } from "./selected-nodes.ts";

/** The note of a report without regions, for programs to look for. */
export const NO_MATCHING_REGIONS = "no matching regions";

export interface ScopeEntries {
  /** Depth first, the outside bucket last. */
  readonly regions: readonly RegionModelEntry[];
  /** How many there are, shown or not, without that bucket. */
  readonly count: number;
  readonly notes: readonly string[];
}

export function scopeEntries<T>(
  root: PathNode,
  tallies: ReadonlyMap<RegionIdentity, T>,
  selected: SelectedNodes,
  entryOf: (identity: RegionIdentity, tally: T) => RegionModelEntry,
): ScopeEntries {
  const regions: RegionModelEntry[] = [];
  const outside: RegionModelEntry[] = [];
  let leftOut = 0;
  for (const node of nodesDepthFirst(root))
    for (const identity of node.regions) {
      const tally = tallies.get(identity);
      if (tally === undefined) continue;
      if (identity.kind === "outside") outside.push(entryOf(identity, tally));
      else if (selected.has(node)) regions.push(entryOf(identity, tally));
      else leftOut++;
    }
  const count = regions.length + leftOut;
  return {
    regions: [...regions, ...outside],
    count,
    notes: [
      ...(regions.length === 0 ? [NO_MATCHING_REGIONS] : []),
      ...(leftOut > 0
        ? [`the selection leaves out ${partOf(leftOut, count, "region")}; totals cover all of them`]
        : []),
    ],
  };
}

/** Each kernel has exactly one exclusive owner, so the exclusive numbers add up to the total. */
export function kernelTotals<T>(
  tallies: ReadonlyMap<RegionIdentity, T>,
  exclusiveOf: (tally: T) => { readonly calls: number; readonly ns: number },
): Pick<ScopeTotals, "kernelCount" | "kernelNs" | "outsideNs" | "outsideKernelCount"> {
  let kernelNs = 0;
  let kernelCount = 0;
  let outsideNs = 0;
  let outsideKernelCount = 0;
  for (const [identity, tally] of tallies) {
    const { calls, ns } = exclusiveOf(tally);
    kernelNs += ns;
    kernelCount += calls;
    if (identity.kind !== "outside") continue;
    outsideNs += ns;
    outsideKernelCount += calls;
  }
  return {
    kernelCount,
    kernelNs: kernelCount === 0 ? null : kernelNs,
    outsideNs: kernelCount === 0 ? null : outsideNs,
    outsideKernelCount,
  };
}
