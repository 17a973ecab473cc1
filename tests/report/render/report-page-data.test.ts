import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KernelRecord } from "../../../src/report/model/document.ts";
import { foldKernels, sourceOfList } from "../../../src/report/render/report-page-data.ts";
import { runs } from "../../runs.ts";

const record = (total_ms: number): KernelRecord => ({
  kernel_name: `k${total_ms}`,
  kind: "gpu_kernel",
  total_ms,
  calls: 2,
  mean_ms: total_ms / 2,
  device: "cuda:0",
});

const fold = (lists: readonly (readonly KernelRecord[])[], limit: number) =>
  foldKernels(
    lists.map((list) => sourceOfList(() => list)),
    limit,
  );

describe("foldKernels", () => {
  it("keeps the longest over all lists", () => {
    const folded = fold([[record(9), record(1)], [record(5), record(4), record(3)], []], 3);
    expect(folded.map(({ kept }) => kept.map(({ total_ms }) => total_ms))).toEqual([
      [9],
      [5, 4],
      [],
    ]);
    expect(folded.map(({ other }) => other)).toEqual([
      { rows: 1, calls: 2, total: 1 },
      { rows: 1, calls: 2, total: 3 },
      null,
    ]);
  });

  it("loses neither calls nor time, and keeps nothing shorter than what it folds", () => {
    const lists = fc.array(fc.array(fc.integer({ min: 0, max: 50 }).map(record)), { maxLength: 8 });
    fc.assert(
      fc.property(lists, fc.nat(40), (given, limit) => {
        const folded = fold(given, limit);
        const all = given.flat();
        const kept = folded.flatMap((list) => list.kept);
        expect(kept).toHaveLength(Math.min(limit, all.length));
        const rest = folded.reduce((sum, { other }) => sum + (other?.total ?? 0), 0);
        const sum = (records: readonly KernelRecord[]) =>
          records.reduce((total, { total_ms }) => total + (total_ms ?? 0), 0);
        expect(sum(kept) + rest).toBe(sum(all));
        const ranked = all.map(({ total_ms }) => total_ms ?? 0).sort((a, b) => b - a);
        expect(sum(kept)).toBe(ranked.slice(0, limit).reduce((total, ms) => total + ms, 0));
      }),
      { numRuns: runs(200) },
    );
  });
});
