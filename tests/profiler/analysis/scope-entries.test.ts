/** Which regions and families a report has where there are more than it can have. */
import { describe, expect, it } from "vitest";
import {
  childNode,
  createPathTree,
  type RegionIdentity,
  regionAt,
  selectNodes,
} from "../../../src/profiler/analysis/path-tree.ts";
import type { RegionModelEntry } from "../../../src/profiler/analysis/region-model.ts";
import { MOST_REGIONS, scopeEntries } from "../../../src/profiler/analysis/scope.ts";

const bare: Omit<RegionModelEntry, "path" | "domain" | "kind"> = {
  device: null,
  processId: null,
  invocations: 1,
  kernelNs: null,
  exclusiveKernelNs: null,
  wallNs: 1,
  exclusiveWallNs: 1,
  invocationWallNs: null,
  kernelCount: 0,
  kernels: [],
  notes: [],
};

/** Regions side by side, of which each has a weight; what is outside of them comes first, and weighs the least. */
function entriesOf(labels: readonly string[], weights: readonly number[], include: string[] = []) {
  const root = createPathTree();
  const outside = regionAt(childNode(root, "(outside)", ""), "outside");
  const all = new Map<RegionIdentity, number>([[outside, 0]]);
  for (const [at, label] of labels.entries())
    all.set(regionAt(childNode(root, label, ""), "push_pop"), weights[at] ?? 0);
  return scopeEntries(root, selectNodes(root, { include, exclude: [] }), {
    weightOf: (identity) => all.get(identity) ?? null,
    entryOf: (place, [{ kind }, ...others]) => ({
      ...bare,
      ...place,
      kind,
      invocations: 1 + others.length,
    }),
  });
}

const labelsOf = (entries: readonly RegionModelEntry[]) =>
  entries.map(({ path }) => path.join("/"));
/** Without digits, so that they are no families. */
const wordOf = (number: number): string =>
  [...String(number)].map((digit) => "abcdefghij".charAt(Number(digit))).join("");

describe("regions of a report", () => {
  const labels = Array.from({ length: MOST_REGIONS + 2 }, (_, at) => wordOf(at));

  it("are all of them, as long as they are no more than it can have", () => {
    const { regions, count, families, notes } = entriesOf(labels.slice(2), []);
    expect(labelsOf(regions)).toEqual([...labels.slice(2), "(outside)"]);
    expect(count).toBe(MOST_REGIONS);
    expect([families, notes]).toEqual([[], []]);
  });

  it("are those with the most time, in their order, and of equal ones the first", () => {
    const weights = labels.map((_, at) => 2 + (at % 5));
    // The two last of those with the least time are left out.
    const least = weights.flatMap((weight, at) => (weight === 2 ? at : []));
    const leftOut = new Set(least.slice(-2).map((at) => labels[at]));
    const { regions, count, notes } = entriesOf(labels, weights);
    expect(labelsOf(regions)).toEqual([
      ...labels.filter((label) => !leftOut.has(label)),
      "(outside)",
    ]);
    expect(count).toBe(MOST_REGIONS + 2);
    expect(notes).toEqual([
      expect.stringMatching(
        /^only the 10,000 longest of 10,002 regions are in this report; totals cover all of them/,
      ),
    ]);
  });

  it("and families are those whose members have the most time together", () => {
    // The first has more than any other member alone, but less than the other families together.
    const members = labels
      .slice(0, MOST_REGIONS + 1)
      .flatMap((label) => [`${label} 1`, `${label} 2`]);
    const weights = members.map((_, at) => (at === 0 ? 1.5 : at === 1 ? 0 : 1));
    const { families } = entriesOf(members, weights);
    expect(labelsOf(families)).toEqual(labels.slice(1, MOST_REGIONS + 1).map((at) => `${at} #`));
    expect(families.every((family) => family.members === 2 && family.invocations === 2)).toBe(true);
  });

  it("are the selected ones; what is outside is shown beside them, and counts for none", () => {
    const { regions, count, notes } = entriesOf(["a", "b", "c"], [], ["b"]);
    expect(labelsOf(regions)).toEqual(["b", "(outside)"]);
    expect(count).toBe(3);
    expect(notes).toEqual(["the selection leaves out 2 of 3 regions; totals cover all of them"]);
  });
});
