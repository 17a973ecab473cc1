import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rankNumbers } from "../../../../src/profiler/analysis/ranks.ts";
import type { RegionReportBundle } from "../../../../src/report/model/document.ts";
import { globalId, writeExport } from "../../tools/nsys/exports.ts";
import { importer } from "./importer.ts";

const { cwd, importFiles } = importer();

/** An export of one rank, whose session began at this nanosecond, and who enters the collective so much later. */
function exportOf(
  name: string,
  { pid, began, enters }: Record<"pid" | "began" | "enters", number>,
) {
  const common = { eventType: 59, globalTid: globalId(pid, 1), textId: null, domainId: null };
  const path = writeExport({
    NVTX_EVENTS: [
      { ...common, start: 0, end: 5_000_000, text: "step" },
      { ...common, start: enters, end: 5_000_000, text: "MPI_Allreduce" },
    ],
    TARGET_INFO_SESSION_START_TIME: [{ utcEpochNs: 1_764_187_200_000_000_000n + BigInt(began) }],
  });
  renameSync(path, join(cwd, name));
  return name;
}

const bundleIn = (folder: string): RegionReportBundle =>
  JSON.parse(readFileSync(join(cwd, folder, "nsys/regions/report.json"), "utf8"));

describe("exports of nsys, one of each rank", () => {
  test("are one run where their names say so, lined up by the clock of the day", async () => {
    const files = [
      exportOf("app.rank1.sqlite", { pid: 12, began: 1_000_000, enters: 2_000_000 }),
      exportOf("app.rank0.sqlite", { pid: 11, began: 0, enters: 1_000_000 }),
    ];
    const { code, stderr } = await importFiles([...files, "-o", "by name"]);
    expect(code).toBe(0);
    expect(stderr).toContain("2 exports of nsys are read as the ranks of one run");
    const { reports } = bundleIn("by name");
    expect(reports.map(({ scope }) => scope)).toEqual(["aggregate", "rank:0", "rank:1"]);
    expect(reports[0]?.ranks?.map(({ rank, process_ids }) => [rank, process_ids])).toEqual([
      [0, [11]],
      [1, [12]],
    ]);
    const collective = reports[0]?.regions.find(({ name }) => name === "MPI_Allreduce");
    // Rank 0 enters at 1 ms, rank 1 at 3 ms of the common clock.
    expect(collective?.ranks).toMatchObject({ wall_ms: [4, 3], slowest_rank: 1, waiting_ms: 2 });
  });

  test("are one run in the order given where that is asked for, and else reports of their own", async () => {
    const files = [
      exportOf("first.sqlite", { pid: 11, began: 0, enters: 1_000_000 }),
      exportOf("second.sqlite", { pid: 12, began: 0, enters: 1_500_000 }),
    ];
    await importFiles([...files, "--ranks", "-o", "asked"]);
    expect(bundleIn("asked").reports[0]?.ranks?.map(({ rank }) => rank)).toEqual([0, 1]);
    expect(existsSync(join(cwd, "asked/nsys-2/regions"))).toBe(false);
    await importFiles([...files, "-o", "apart"]);
    expect(bundleIn("apart").reports[0]?.ranks).toBeUndefined();
    expect(existsSync(join(cwd, "apart/nsys-2/regions/report.json"))).toBe(true);
  });
});

describe("rankNumbers", () => {
  test("finds the ranks of any number of files in any order", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 40 }).chain((size) =>
          fc.shuffledSubarray(
            Array.from({ length: size }, (_, rank) => rank),
            { minLength: size },
          ),
        ),
        fc.constantFrom("rank", "a_Rank-", "x.rank.", "r2d2-rank"),
        (ranks, before) => {
          expect(rankNumbers(ranks.map((rank) => `${before}${rank}.v2.sqlite`))).toEqual(ranks);
        },
      ),
    );
  });

  test.each([
    [["a0.sqlite", "a1.sqlite"]],
    [["rank1.sqlite", "rank2.sqlite"]],
    [["rank0.sqlite", "rank0.sqlite"]],
    [["rank0.a.sqlite", "rank1.b.sqlite"]],
    [["rank0.sqlite", "other.sqlite"]],
  ])("finds none in %j", (names) => {
    expect(rankNumbers(names)).toBeNull();
  });
});
