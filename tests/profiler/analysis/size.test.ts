import { describe, expect, it } from "vitest";
import { plural } from "../../../src/foundation/text/plural.ts";
import { MAX_DEPTH } from "../../../src/profiler/analysis/attribute.ts";
import { MOST_REGIONS } from "../../../src/profiler/analysis/scope.ts";
import { aggregateOf } from "./models.ts";

describe("size", () => {
  it("folds runaway recursion at a depth it names", () => {
    const depth = 100_000;
    const ranges = Array.from({ length: depth }, (_, index) => ({
      name: "f",
      start: index,
      end: 2 * depth - index,
    }));
    const { regions, notes } = aggregateOf({
      ranges,
      kernels: [{ name: "k", launch: depth, ns: 3 }],
    });
    expect(regions).toHaveLength(MAX_DEPTH);
    expect(regions.at(-1)?.exclusiveKernelNs).toBe(3);
    expect(notes.join()).toContain(
      `${plural(depth - MAX_DEPTH, "range")} nested deeper than ${MAX_DEPTH}`,
    );
  });

  it("survives 100,000 regions side by side and ranges that leak", () => {
    const wide = Array.from({ length: 100_000 }, (_, index) => ({
      name: `r${index}`,
      start: index * 2,
      end: index * 2 + 1,
    }));
    const { regions, notes, totals } = aggregateOf({ ranges: wide }, { labels: { fold: null } });
    expect(regions).toHaveLength(MOST_REGIONS);
    expect(notes.join()).toContain("only the 10,000 longest of 100,000 regions are in this report");
    expect(totals.wallNs).toBe(100_000);
    const leaked = Array.from({ length: 20_000 }, (_, index) => ({
      name: "leak",
      start: index,
      end: null,
      kind: "start_end" as const,
    }));
    expect(aggregateOf({ ranges: leaked }).regions).toHaveLength(MAX_DEPTH);
  });
});
