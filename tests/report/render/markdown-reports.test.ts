import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type RegionReportBundle,
  type RunSummary,
  renderKernelsMarkdown,
  renderRegionMarkdown,
  renderRunMarkdown,
  renderStakeholderSummary,
} from "../../../src/report/index.ts";
import { regionMarkdownPieces } from "../../../src/report/render/run-reports.ts";
import { createRegionBundler } from "../../../src/report/write-reports.ts";
import type { ProcessSketch } from "../../profiler/analysis/timelines.ts";
import { runs } from "../../runs.ts";
import { anyName, bundleOf, firstReport, hostileNames, resnet } from "../bundles.ts";

const runOf = (bundle: RegionReportBundle, notes: string[] = []): RunSummary => ({
  sections: [
    { collector: "recorder", directory: "recorder", bundle, regionDirectories: new Map() },
  ],
  notes,
});

const title = "Region report: recorder";
const gpu = bundleOf([
  {
    ranges: [
      { name: "a", start: 0, end: 100 },
      { name: "b", start: 10, end: 20 },
    ],
    kernels: [
      { name: "gemm", launch: 15, ns: 3_000_000 },
      { name: "copy", launch: 50, ns: 1_000_000 },
      { name: "copy", launch: 200, ns: 4_000_000 },
    ],
  },
]);

/** Cells of each line of a Markdown table: unescaped pipes separate them. */
const cellCounts = (markdown: string): number[][] => {
  const tables: number[][] = [];
  let inTable = false;
  for (const line of markdown.split("\n")) {
    if (!line.startsWith("| ")) inTable = false;
    else {
      if (!inTable) tables.push([]);
      inTable = true;
      tables.at(-1)?.push([...line.replaceAll(/\\./g, "").matchAll(/\|/g)].length);
    }
  }
  return tables;
};

/** Ranges of which only the number is known. */
const untimed = (bundle: RegionReportBundle): RegionReportBundle => ({
  ...bundle,
  reports: bundle.reports.map((report) => ({
    ...report,
    regions: report.regions.map((region) => ({
      ...region,
      wall_ms: null,
      wall_exclusive_ms: null,
      invocation_wall_ms: null,
    })),
  })),
});

describe("Markdown reports", () => {
  it("show the tree, the kernels per region and where it all comes from", () => {
    const text = renderRegionMarkdown(bundleOf([resnet]), { title });
    expect(text).toMatch(/^# Region report: recorder\n\n\*\*The time is spread over 4 regions: /);
    expect(text).toContain("\n\nScope aggregate, collector recorder");
    expect(text).toContain(
      "| \u00a0\u00a0\u00a0└\u00a0block.conv1 | 2 | 4.000 | 4.000 | 6.000 | 6.000 | 2 | 25.0 |",
    );
    expect(text).toContain("### forward / residual / block.conv2\n\n| CPU operation | Calls |");
    expect(text).toContain("| conv2d 4x16x64x64 | 2 | 6.000 | 3.000 | 100.0 |");
    expect(text).toContain("| Config fingerprint | `sha256:0000");
    expect(text).toContain("## Scope process:4711\n\nThe same numbers as aggregate.");
    expect(text).toContain("--label 'a\\|b `c` d'\\''s'``");
  });

  it("do not say that a machine had no GPUs where a file does not say which", () => {
    const on = (cpu: string) => ({
      contract: gpu.contract,
      reports: gpu.reports.map((report) => ({
        ...report,
        environment: { ...report.environment, cpu, gpus: [] },
      })),
    });
    expect(renderRegionMarkdown(on("unknown"), { title })).toContain("| GPUs | unknown |");
    expect(renderRegionMarkdown(on("Example CPU"), { title })).toContain("| GPUs | none |");
  });

  it("say on what a program ran, as far as that is known", () => {
    const on = (cpu: string, gpus: readonly string[]) => ({
      ...gpu,
      reports: gpu.reports.map((report) => ({
        ...report,
        environment: { ...report.environment, cpu, gpus },
      })),
    });
    const where = (...machine: Parameters<typeof on>) =>
      /collector recorder(.*)\./.exec(renderStakeholderSummary(runOf(on(...machine))))?.[1];
    expect(where("unknown", [])).toBe("");
    expect(where("Example CPU", [])).toBe(" on Example CPU");
    expect(where("unknown", ["H100"])).toBe(" on H100");
    expect(where("Example CPU", ["H100", "H200"])).toBe(" on Example CPU with H100, H200");
  });

  it("say of what shares are, and where ranges take more than that", () => {
    const wall = (start: number) =>
      renderRegionMarkdown(
        bundleOf([
          {
            ranges: [
              { name: "a", start: 0, end: 10, thread: 1 },
              { name: "b", start, end: start + 10, thread: 2 },
            ],
          },
        ]),
        { title },
      );
    const base = "Share is of wall time covered by outermost ranges";
    expect(wall(10)).toContain(`${base}. `);
    expect(wall(5)).toContain(
      `${base} (no share where ranges at the same time take more than that). `,
    );
  });

  it("say what shares are of also where there is one region, by the wall clock", () => {
    const bundle = bundleOf([
      {
        ranges: [
          { name: "before", start: 0, end: 1_000_000 },
          { name: "step", start: 2_000_000, end: 6_000_000 },
          { name: "load", start: 3_000_000, end: 4_000_000 },
        ],
      },
    ]);
    const [, step] = firstReport(bundle).regions;
    if (step === undefined) throw new Error("no step");
    const text = renderRegionMarkdown(createRegionBundler(bundle)(step), { title });
    expect(text).toContain("| step | 1 | 4.000 | 3.000 | 100.0 |");
    expect(text).toContain("| └\u00a0load | 1 | 1.000 | 1.000 | 25.0 |");
    expect(text).toContain("Share is of the wall time of the region.");
    const none = renderRegionMarkdown(untimed(createRegionBundler(bundle)(step)), { title });
    expect(none).toContain("| Region | Calls | Wall ms | Wall excl. ms |");
    expect(none).not.toContain("Share");
  });

  it("of a region in which nothing ran say what could have run there", () => {
    const ranges = [
      { name: "empty", start: 0, end: 1_000_000 },
      { name: "full", start: 2_000_000, end: 4_000_000 },
    ];
    const kernels = [{ name: "gemm", launch: 3_000_000, ns: 500 }];
    const operations = [{ name: "conv", start: 3_000_000, end: 3_000_500, domain: "ops" }];
    const reportOf = (sketch: ProcessSketch) => {
      const bundle = bundleOf([sketch], { operationDomains: ["ops"] });
      const [empty] = firstReport(bundle).regions;
      if (empty === undefined) throw new Error("no region");
      return renderRegionMarkdown(createRegionBundler(bundle)(empty), { title });
    };
    const gpuRun = reportOf({ ranges, kernels });
    expect(gpuRun).toContain(": 1 region, 1 call, 0 GPU kernels.");
    expect(gpuRun).toContain("| empty | 1 | 0.000 | 0.000 | 1.000 | 1.000 | 0.0 | 0 | 100.0 |");
    expect(gpuRun).toContain("Total is GPU time of kernels inside the region");
    const cpuRun = reportOf({ ranges: [...ranges, ...operations] });
    expect(cpuRun).toContain(": 1 region, 1 call, 0 CPU operations.");
    expect(cpuRun).toContain("| CPU ops | Share % |");
    expect(cpuRun).not.toContain("GPU time");
  });

  it("never call CPU operations GPU kernels, nor the other way round", () => {
    const cpu = bundleOf([resnet]);
    for (const text of [
      renderRegionMarkdown(cpu, { title }),
      renderKernelsMarkdown(runOf(cpu)),
      renderRunMarkdown(runOf(cpu)),
      renderStakeholderSummary(runOf(cpu)),
    ]) {
      expect(text).toContain("CPU operation");
      expect(text).not.toContain("GPU kernel");
    }
    for (const text of [renderRegionMarkdown(gpu, { title }), renderKernelsMarkdown(runOf(gpu))]) {
      expect(text).toContain("GPU kernel");
      expect(text).not.toContain("CPU op");
    }
  });

  it("say what is missing", () => {
    const ranges = ["a", "b"].map((name, at) => ({ name, start: at * 6e6, end: at * 6e6 + 5e6 }));
    const wall = bundleOf([{ ranges }]);
    const text = renderRegionMarkdown(wall, { title });
    expect(text).toContain("| a | 1 | 5.000 | 5.000 | 50.0 |");
    expect(text.match(/No GPU kernels or CPU operations were recorded/g)).toHaveLength(1);
    expect(text).not.toContain("### a");
    expect(renderKernelsMarkdown(runOf(wall))).toContain("Neither GPU kernels nor CPU operations");
    expect(renderRegionMarkdown(bundleOf([]), { title })).toContain("No regions.");
    const none = { contract: wall.contract, reports: [] };
    expect(renderRegionMarkdown(none, { title })).toBe(`# ${title}\n\nNo reports.\n`);
    const nothing = renderRunMarkdown({ sections: [], notes: [] });
    expect(nothing).toContain("\nNo collector ran.\n");
    const unmeasured = "# Summary\n\nNothing was measured: no collector ran.\n";
    expect(renderStakeholderSummary({ sections: [], notes: [] })).toBe(unmeasured);
    expect(renderStakeholderSummary({ sections: [], notes: ["it failed"] })).toBe(
      `${unmeasured}\n- it failed\n`,
    );
    expect(nothing).not.toContain("## ");
    expect(renderRunMarkdown(runOf(wall))).not.toContain("No collector ran.");
  });

  it("name the first scopes of a run of very many processes, and count the others", () => {
    const [report] = gpu.reports;
    if (report === undefined) throw new Error("no report");
    const reports = Array.from({ length: 4097 }, (_, pid) => ({
      ...report,
      scope: `process:${pid}` as const,
    }));
    const text = renderRunMarkdown(runOf({ ...gpu, reports }));
    expect(text).toContain(", process:63 and 4,033 more.\n");
    expect(text).not.toContain("process:64");
  });

  it("come in pieces, none of which grows with the number of regions", () => {
    const ranges = Array.from({ length: 2_000 }, (_, at) => ({
      name: `step ${at}`,
      start: at * 10,
      end: at * 10 + 5,
    }));
    const many = bundleOf([{ ranges: [...ranges, ...ranges.map((range) => ({ ...range }))] }]);
    const options = { title, regionSections: Number.POSITIVE_INFINITY };
    const pieces = [...regionMarkdownPieces(many, options)];
    expect(pieces.join("")).toBe(renderRegionMarkdown(many, options));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1_000);
  });

  it("say what they cut", () => {
    const text = renderRegionMarkdown(bundleOf([resnet]), {
      title,
      kernelRows: 1,
      regionSections: 2,
    });
    expect(text).toContain("2 more rows (6.000 ms) in `report.json`.");
    expect(text).toContain("3 more regions in `report.json`.");
    expect(renderKernelsMarkdown({ ...runOf(gpu), kernelLimit: 1 })).toContain(
      "1 more row in `report.json`.",
    );
  });

  it("list the kernels of the run with the region that has most of each", () => {
    const text = renderKernelsMarkdown(runOf(gpu));
    expect(text).toContain("| copy | 2 | 5.000 | 2.500 | 62.5 | (outside) |");
    expect(text).toContain("| gemm | 1 | 3.000 | 3.000 | 37.5 | a / b |");
    expect(text).not.toContain("add up to");
  });

  it("say when kernels of the run are not all in what is shown", () => {
    const selected = bundleOf(
      [
        {
          ranges: [
            { name: "a", start: 0, end: 5 },
            { name: "b", start: 10, end: 15 },
          ],
          kernels: [
            { name: "k", launch: 1, ns: 1_000_000 },
            { name: "k", launch: 11, ns: 2_000_000 },
          ],
        },
      ],
      { selection: { include: ["a"], exclude: [] } },
    );
    expect(renderKernelsMarkdown(runOf(selected))).toContain("add up to 1.000 of 3.000 ms");
  });

  it("explain to people who do not profile where the time goes and how sure that is", () => {
    const text = renderStakeholderSummary(runOf(bundleOf([resnet]), ["the workload failed"]));
    expect(text).toContain("ran on the CPU; 36.00 ms passed in 5 named regions");
    expect(text).toContain("- forward / residual / block.conv\\#: 62.5 % (10.00 ms in 4 calls)");
    expect(text).toContain("- the workload failed");
    const selection = { include: ["forward"], exclude: ["stem"] };
    expect(renderStakeholderSummary(runOf(bundleOf([resnet], { selection })))).toMatch(
      /; 36\.00 ms passed in named regions, of which this report has \d\. Measured/,
    );
    const workers = [2, 3].map((thread) => ({ name: "work", thread, start: 0, end: 1_000_000 }));
    const beside = bundleOf([
      { pid: 1, ranges: [{ name: "all", start: 0, end: 4_000_000 }, ...workers] },
    ]);
    expect(renderStakeholderSummary(runOf(beside))).toMatch(
      /- work: 50\.0 % \(2\.00 ms in 2 calls of 2 threads\)/,
    );
    expect(renderStakeholderSummary(runOf(gpu))).toContain(
      "50.0 % of the GPU time of kernels is in no region",
    );
    expect(renderStakeholderSummary(runOf(bundleOf([])))).toContain("no matching regions");
  });

  it("say what a summary cannot know as unknown, and not as never seen", () => {
    // As ncu gives it: which ranges were open, not how often nor how long.
    const untimed = ({ reports }: RegionReportBundle, invocations: number) => ({
      contract: gpu.contract,
      reports: reports.map((report) => ({
        ...report,
        totals: { ...report.totals, wall_ms: null },
        regions: report.regions.map((region) => ({
          ...region,
          invocations: region.kind === "outside" ? 0 : invocations,
          invocation_wall_ms: null,
        })),
      })),
    });
    for (const calls of [0, 2]) {
      const text = renderStakeholderSummary(runOf(untimed(gpu, calls)));
      expect(text).toContain("; 2 named regions were seen. Measured");
      expect(text).toContain("How long each call of a region took was not measured");
      expect(text).not.toContain("ran once");
      expect(text).not.toContain("slow calls");
    }
    const once = renderStakeholderSummary(runOf(gpu));
    expect(once).toContain("Each region ran once, so nothing");
    expect(once).toContain("2 regions were measured only once");
    const repeats = { runs: 3, total_runs: 3, total_ms: null, wall_ms: null };
    const again = renderStakeholderSummary(
      runOf({
        contract: gpu.contract,
        reports: gpu.reports.map((report) => ({
          ...report,
          regions: report.regions.map((region) => ({ ...region, repeats })),
        })),
      }),
    );
    expect(again).toContain("Each region ran once in a run; how its time varies over the runs");
    expect(again).not.toContain("measured only once");
    const none = renderStakeholderSummary(
      runOf(bundleOf([{ kernels: [{ name: "k", launch: 1, ns: 5 }] }])),
    );
    expect(none).toContain("; no named region was seen. Measured");
    expect(none).toContain("No named region was seen, so nothing");
  });

  it("rank ranges that were measured as a whole by what they took with those inside", () => {
    const whole = {
      contract: gpu.contract,
      reports: gpu.reports.map((report) => ({
        ...report,
        regions: report.regions.map((region) => ({ ...region, exclusive_ms: null, kernels: [] })),
      })),
    };
    const text = renderStakeholderSummary(runOf(whole));
    expect(text).toContain(
      "Each line gives the GPU time of ranges of the region, including its inner regions,",
    );
    expect(text).toContain(
      "- a: 50.0 % (4.00 ms in 1 call)\n- Outside every region: 50.0 % (4.00 ms)\n- a / b: 37.5 % (3.00 ms in 1 call)",
    );
  });

  it("keep their shape whatever the names", () => {
    fc.assert(
      fc.property(fc.array(anyName, { minLength: 1, maxLength: 6 }), (names) => {
        const bundle = bundleOf([
          {
            ranges: names.map((name, index) => ({ name, start: index, end: 20 - index })),
            kernels: names.map((name, index) => ({ name, launch: index, ns: 5 })),
          },
        ]);
        for (const text of [
          renderRegionMarkdown(bundle, { title: names.join() }),
          renderKernelsMarkdown(runOf(bundle)),
          renderRunMarkdown(runOf(bundle, names)),
          renderStakeholderSummary(runOf(bundle, names)),
        ]) {
          expect(text).not.toMatch(/<[a-z!/]/i);
          expect(text).not.toMatch(/[^\P{Cc}\n]/u);
          for (const counts of cellCounts(text)) expect(new Set(counts).size).toBe(1);
        }
      }),
      { numRuns: runs(60) },
    );
    const text = renderRegionMarkdown(
      bundleOf([
        {
          ranges: hostileNames.map((name, index) => ({ name, start: index, end: index + 1 })),
          kernels: [{ name: "k", launch: 0, ns: 1 }],
        },
      ]),
      { title },
    );
    expect(text.match(/^### /gm)?.length).toBe(hostileNames.length);
  });
});
