/** What zero and absent numbers mean stands in every form of a report. */
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import { showReport } from "../../../src/profiler/cli/terminal-report.ts";
import { measurementNotes } from "../../../src/profiler/tools/ncu/ncu-collector.ts";
import type { NcuCliConfig } from "../../../src/profiler/tools/profiler-config.ts";
import type { RegionReportBundle } from "../../../src/report/model/document.ts";
import { renderBundleJson } from "../../../src/report/render/json.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { renderRegionMarkdown, renderRunMarkdown } from "../../../src/report/render/run-reports.ts";
import { context } from "../../report/bundles.ts";
import { assembleNcu } from "../tools/ncu/assemble/assemble-all.ts";
import { type ResultSketch, resultsOf } from "../tools/ncu/results.ts";
import { cliConfig } from "../tools/ncu/run/cli-config.ts";
import { type ProcessSketch, timelineOf } from "./timelines.ts";

const recorded = (process: ProcessSketch): RegionReportBundle =>
  toReportBundle(buildRegionModel(timelineOf([process])), context);
const measured = (
  sketches: readonly ResultSketch[],
  notes: readonly string[] = [],
): RegionReportBundle => toReportBundle(assembleNcu(resultsOf(...sketches)), { ...context, notes });

const OPS = "shallow_resnet.ops";
const work = { name: "work", start: 0, end: 9000 };
const idle = { name: "idle", start: 10_000, end: 11_000 };
const kernel = { name: "gemm", launch: 100, ns: 50 };
const operation = { name: "conv2d", start: 100, end: 200, domain: OPS };
const how = (
  clock_control: NcuCliConfig["clock_control"],
  cache_control: NcuCliConfig["cache_control"],
) =>
  measured(
    [{ in: ["A"], ns: 10 }],
    measurementNotes({ version: "2024.1.1" }, { ...cliConfig, clock_control, cache_control }, []),
  );

const CASES: readonly (readonly [string, RegionReportBundle, string])[] = [
  [
    "an empty region among others",
    recorded({ ranges: [work, idle], kernels: [kernel] }),
    "no GPU kernel ran in 1 of 2 regions: idle",
  ],
  [
    "a region without operations",
    recorded({ ranges: [work, operation, idle] }),
    "no CPU operation ran in 1 of 2 regions: idle",
  ],
  ["no regions", recorded({ kernels: [kernel] }), "no matching regions"],
  ["neither kernels nor operations", recorded({ ranges: [work] }), "only wall times of ranges"],
  [
    "CPU operations instead of kernels",
    recorded({ ranges: [work, operation] }),
    "no kernels were recorded on a GPU",
  ],
  [
    "GPU kernels beside CPU operations",
    recorded({ ranges: [work, operation], kernels: [kernel] }),
    "1 CPU operation is not counted because GPU kernels were recorded",
  ],
  [
    "clocks that nobody locked",
    recorded({ ranges: [work], kernels: [kernel] }),
    "GPU clocks are not locked by this collector: times vary",
  ],
  [
    "counters that nobody read",
    recorded({ ranges: [work], kernels: [kernel] }),
    "it reads no hardware counters",
  ],
  [
    "a region that has something to say itself",
    recorded({ ranges: [{ ...work, end: null }] }),
    "1 region has its own notes in the reports: work",
  ],
  [
    "regions that have something to say themselves",
    recorded({ ranges: [work, idle].map((range) => ({ ...range, end: null })) }),
    "2 regions have their own notes in the reports: work, work / idle",
  ],
  ["serialised kernels", measured([{ in: ["A"], ns: 10 }]), "kernels ran one at a time"],
  [
    "ranges without kernels",
    measured([{ kind: "range", in: ["A"], ns: 10 }]),
    "each range was measured as a whole",
  ],
  ["no counters", measured([{ in: ["A"] }]), "no hardware counter has a value in 1 of 1 region"],
  ["clocks locked to base", how("base", "all"), "GPU clocks were locked to base"],
  ["clocks locked otherwise", how("boost", "all"), "GPU clocks were locked by ncu"],
  ["clocks not locked under ncu", how("none", "all"), "GPU clocks were not locked"],
  ["clocks left to ncu", how(null, "all"), "GPU clocks were controlled by"],
  ["flushed caches", how("base", "all"), "GPU caches were flushed before every replay pass"],
  ["warm caches", how("base", "none"), "GPU caches were not flushed between replay passes"],
  ["caches left to ncu", how("base", null), "GPU caches were controlled by"],
];

const terminalText = ({ reports: [report] }: RegionReportBundle): string => {
  let text = "";
  const write = (piece: string) => {
    text += piece;
  };
  if (report !== undefined)
    showReport(report, { write, writeError: write, width: 100, color: false });
  return text;
};

const FORMS: readonly (readonly [string, (bundle: RegionReportBundle) => string])[] = [
  ["JSON", renderBundleJson],
  ["Markdown", (bundle) => renderRegionMarkdown(bundle, { title: "t" })],
  [
    "the run's Markdown",
    (bundle) =>
      renderRunMarkdown({
        sections: [{ collector: "c", directory: "c", bundle, regionDirectories: new Map() }],
        notes: [],
      }),
  ],
  ["HTML", (bundle) => renderHtmlReport(bundle, { title: "t", config: [], files: [] })],
  ["the terminal", terminalText],
];

describe.each(FORMS)("%s", (_, render) => {
  it.each(CASES)("tells of %s", (_, bundle, note) => {
    // A page is too long to be shown when it fails.
    expect(render(bundle).includes(note), note).toBe(true);
  });
});

describe("what is told", () => {
  it("is nothing where nothing is absent", () => {
    const { reports } = recorded({ ranges: [work, operation, { ...idle, end: null }] });
    expect(reports[0]?.notes.join("\n")).not.toContain("not locked");
    const full = recorded({ ranges: [work], kernels: [kernel] }).reports[0]?.notes ?? [];
    expect(full.join("\n")).not.toMatch(/ran in|own notes|only wall times|no kernels/);
    const withoutKernels = recorded({ ranges: [work] }).reports[0]?.notes ?? [];
    expect(withoutKernels.join("\n")).not.toContain("ran in");
    const counted = measured([{ in: ["A"], metrics: { "dram__bytes.sum": [1, "byte"] } }]);
    expect(counted.reports[0]?.notes.join("\n")).not.toContain("hardware counter");
    expect(recorded({}).reports[0]?.notes).toEqual(["no matching regions"]);
  });

  it("names few regions of many, and cuts long names", () => {
    const many = Array.from({ length: 9 }, (_, at) => ({
      name: `${at}${"x".repeat(500)}`,
      start: 20_000 + at * 10,
      end: 20_005 + at * 10,
    }));
    const notes = recorded({ ranges: [work, ...many], kernels: [kernel] }).reports[0]?.notes ?? [];
    const [note = ""] = notes.filter((text) => text.startsWith("no GPU kernel ran"));
    expect(note).toMatch(/ran in 9 of 10 regions: …x{60}, .* and 4 more$/);
  });

  it("names all where they are few, in full where they are short, and what is outside is none of them", () => {
    const five = Array.from({ length: 5 }, (_, at) => ({
      name: `${at}`.padEnd(60, "x"),
      start: 20_000 + at * 10,
      end: 20_005 + at * 10,
    }));
    const outside = { name: "k", launch: 15_000, ns: 5 };
    const sketch = { ranges: [work, ...five], kernels: [kernel, outside] };
    expect(recorded(sketch).reports[0]?.notes).toContain(
      `no GPU kernel ran in 5 of 6 regions: ${five.map(({ name }) => name).join(", ")}`,
    );
  });
});
