import { expect, test } from "vitest";
import { isJobSummary, jobResult } from "../../../src/profiler/cli/job-summary.ts";
import { bundleOf, firstReport, largeBundle, resnet } from "../../report/bundles.ts";
import { twoLibraries } from "../analysis/timelines.ts";

const MS = 1_000_000;

test("is the first collector's main report in short, regions by path", () => {
  const bundle = bundleOf([resnet]);
  const report = firstReport(bundle);
  const result = jobResult([{ bundle }, { bundle: largeBundle(3, 1) }], "/runs/0");
  expect(result).toMatchObject({
    collector: report.collector.name,
    total_ms: report.totals.total_ms,
    wall_ms: report.totals.wall_ms,
    report: "/runs/0/report.md",
  });
  expect(Object.keys(result?.regions ?? {})).toEqual(
    report.regions.map(({ path }) => path.join(" / ")),
  );
  const [forward] = report.regions;
  expect(result?.regions["forward"]).toEqual({
    total_ms: forward?.total_ms,
    wall_ms: forward?.wall_ms,
    invocations: 2,
  });
  expect(isJobSummary(JSON.parse(JSON.stringify(result)))).toBe(true);
});

test("tells regions of one path apart by their domains", () => {
  const bundle = bundleOf([
    {
      pid: 1,
      ranges: [
        { name: "step", start: 0, end: MS },
        { name: "step", start: 2 * MS, end: 3 * MS, domain: "io" },
      ],
    },
  ]);
  expect(Object.keys(jobResult([{ bundle }], "/r")?.regions ?? {})).toEqual([
    "step (push_pop)",
    "step (io, push_pop)",
  ]);
});

test("tells regions apart by the domains around them", () => {
  const bundle = bundleOf([twoLibraries]);
  const regions = jobResult([{ bundle }], "/r")?.regions ?? {};
  expect(Object.entries(regions).map(([name, { total_ms }]) => [name, total_ms])).toEqual([
    ["step (A, push_pop)", 0.1],
    ["step @A / load @io (push_pop)", 0.1],
    ["step (B, push_pop)", 7],
    ["step @B / load @io (push_pop)", 7],
  ]);
});

test("keeps the regions with the most time of very many", () => {
  const bundle = largeBundle(300, 1);
  const time = ({ total_ms, wall_ms }: { total_ms: number | null; wall_ms: number | null }) =>
    total_ms ?? wall_ms ?? 0;
  const kept = Object.values(jobResult([{ bundle }], "/r")?.regions ?? {}).map(time);
  expect(kept).toHaveLength(200);
  const all = firstReport(bundle)
    .regions.map(time)
    .sort((a, b) => b - a);
  expect(Math.min(...kept)).toBe(all[199]);
});

test("is null without a report, and tells other programs' results from ours", () => {
  expect(jobResult([], "/r")).toBeNull();
  for (const other of [null, 3, "x", {}, { loss: 1 }, { collector: "recorder", report: 1 }])
    expect(isJobSummary(other)).toBe(false);
});
