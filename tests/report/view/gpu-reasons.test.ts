/** What a report says of the GPU, on inputs that would make another sentence wrong. */
import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../../src/pages/markdown.ts";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../../src/profiler/analysis/to-report.ts";
import {
  CONTRACT,
  type NCUProfileRegion,
  type NCUProfileRegionReport,
  type RegionReportBundle,
} from "../../../src/report/model/document.ts";
import { answerBlocks, answerOf, factsOf } from "../../../src/report/view/answer.ts";
import { type Explained, reasonFor } from "../../../src/report/view/reasons.ts";
import { gpuActivity } from "../../../src/report/view/stakeholder-summary.ts";
import {
  type KernelSketch,
  type ProcessSketch,
  timelineOf,
} from "../../profiler/analysis/timelines.ts";
import { context } from "../bundles.ts";

const US = 1000;
const sketched = (process: ProcessSketch): RegionReportBundle =>
  toReportBundle(buildRegionModel(timelineOf([process])), context);

const firstOf = ({ reports: [report] }: RegionReportBundle): NCUProfileRegionReport => {
  if (report === undefined) throw new Error("a bundle without a report");
  return report;
};

const reasonOf = (
  report: NCUProfileRegionReport,
  explained: Explained = "wall",
  label = "step",
) => {
  const place = report.regions.findIndex(({ path }) => path.join(" / ") === label);
  if (place < 0) throw new Error(`no region ${label}`);
  return reasonFor(factsOf(report)(place), explained);
};

const reasonIn = (process: ProcessSketch, label?: string) =>
  reasonOf(firstOf(sketched(process)), "wall", label);

const step = (us: number) => ({ name: "step", start: 0, end: us * US });
/** A kernel begins a microsecond after its launch. Times in microseconds. */
const kernel = (start: number, length: number, more: Partial<KernelSketch> = {}): KernelSketch => ({
  name: "k",
  launch: (start - 1) * US,
  ns: length * US,
  ...more,
});
const tiny = Array.from({ length: 20 }, (_, index) => kernel(1 + index * 40, 5));

const withRegions = (
  report: NCUProfileRegionReport,
  change: (region: NCUProfileRegion) => NCUProfileRegion,
): NCUProfileRegionReport => ({ ...report, regions: report.regions.map(change) });

describe("a region of many short kernels", () => {
  it("is launch bound only while the GPU is idle between them", () => {
    expect(reasonIn({ ranges: [step(800)], kernels: tiny })).toMatchObject({
      rule: "launch_bound",
      evidence: "20 kernels of 5.0 µs on average, one every 40.0 µs",
      advice: "launch less: CUDA graphs, fused kernels, larger batches",
    });
    const beside = kernel(1, 790, { name: "gemm", thread: 2, stream: 9 });
    expect(reasonIn({ ranges: [step(800)], kernels: [...tiny, beside] })?.rule).toBe("kernels");
    const copy = kernel(1, 390, { name: "copy", kind: "memcpy", stream: 9 });
    expect(reasonIn({ ranges: [step(800)], kernels: [...tiny, copy] })?.rule).not.toBe(
      "launch_bound",
    );
  });

  it("is not advised to use the graphs that it launches", () => {
    const call = { api: "cuda" as const, name: "cudaGraphLaunch_v10000", calls: 1, total_ms: 0.01 };
    const report = withRegions(
      firstOf(sketched({ ranges: [step(800)], kernels: tiny })),
      (region) => ({ ...region, host_calls: [{ ...call, min_ms: 0.01, max_ms: 0.01 }] }),
    );
    expect(reasonOf(report)).toMatchObject({
      rule: "launch_bound",
      advice: expect.stringMatching(/^CUDA graphs launch them already: /),
    });
  });
});

describe("kernels that do not run one by one in their region", () => {
  it("are not said to be what ran in it", () => {
    // What runs until the region closes is of the one before.
    const kernels = [kernel(1, 999, { name: "before", thread: 2 }), kernel(1000, 3000)];
    expect(reasonIn({ ranges: [step(1000)], kernels })).toMatchObject({
      rule: "kernels",
      evidence:
        "999.0 µs of 1.00 ms, while those that it launches take 3.00 ms in all: at once on several streams, or after it closed",
    });
  });

  it("leave a GPU idle while the region is open, not between them", () => {
    expect(reasonIn({ ranges: [step(1000)], kernels: [kernel(990, 3000)] })).toMatchObject({
      rule: "idle_between_kernels",
      title: "the GPU is idle while it is open",
      evidence:
        "990.0 µs of 1.00 ms nothing runs on it; 1 kernel that it launches take 3.00 ms in all: after it closed, or at once on several streams",
    });
    expect(reasonIn({ ranges: [step(1000)], kernels: [kernel(490, 100)] })?.title).toBe(
      "the GPU is idle around its kernel",
    );
  });

  const streams = [7, 8, 9, 10].map((stream) => kernel(1, 200, { stream }));

  it("take no share of the run where several run at once", () => {
    const bundle = sketched({ ranges: [step(1000)], kernels: streams });
    const answer = answerOf(bundle);
    expect(answer?.byGpu[0]).toMatchObject({
      ...{ ms: 0.8, share: null, atOnce: { average: 4, what: "kernels" } },
    });
    const text = answer === null ? "" : renderMarkdown(answerBlocks(answer));
    expect(text).toContain("kernels 20.0 % (200.0 µs)");
    expect(text).toContain("4.0 kernels at once on average (800.0 µs)");
    const alone = answerOf(sketched({ ranges: [step(1000)], kernels: streams.slice(0, 1) }));
    expect(alone?.byGpu[0]).toMatchObject({ share: 20, atOnce: null });
  });

  it("did not run after their region because they ran at once", () => {
    const said = (kernels: readonly KernelSketch[]) =>
      renderMarkdown(
        gpuActivity(firstOf(sketched({ ranges: [step(1000)], kernels, endNs: 2_000_000 }))),
      );
    expect(said(streams)).toContain("Most of this time the GPU waited for the host");
    expect(said([kernel(990, 800)])).toContain("Most kernels ran after the regions");
    expect(said(streams)).toMatch(/^In the outermost regions \(1\.00 ms\) the GPU/);
  });
});

describe("copies and sets of memory", () => {
  const memory = (kind: "memcpy" | "memset", start: number, us: number, more = {}) =>
    kernel(start, us, { name: kind, kind, bytes: 1, ...more });

  it("are told apart as far as their times tell", () => {
    const mostlySet = [memory("memset", 1, 700), memory("memcpy", 750, 50)];
    expect(reasonIn({ ranges: [step(1000)], kernels: mostlySet })).toMatchObject({
      rule: "copies",
      title: "waits for memory that is copied or set",
      evidence:
        "750.0 µs of 1.00 ms memory is copied or set, and no kernel runs; in all, it is set for 700.0 µs and copied for 50.0 µs",
    });
    const mostlyCopied = [memory("memcpy", 1, 700), memory("memset", 750, 50)];
    expect(reasonIn({ ranges: [step(1000)], kernels: mostlyCopied })).toMatchObject({
      title: "waits for copies",
      evidence: "750.0 µs of 1.00 ms copies or sets of memory run, and no kernel",
    });
  });

  it("are those that the region issues, whatever others do", () => {
    const ranges = [step(1000), { name: "other", start: 1100 * US, end: 3100 * US }];
    const both = (here: "memcpy" | "memset", there: "memcpy" | "memset") => ({
      ranges,
      kernels: [memory(here, 1, 700), memory(there, 1110, 1800)],
    });
    expect(reasonIn(both("memcpy", "memset"))).toMatchObject({
      title: "waits for copies",
      evidence: expect.stringContaining("copies or sets of memory run"),
      advice: expect.not.stringContaining("set less"),
    });
    expect(reasonIn(both("memset", "memcpy"))).toMatchObject({
      title: "waits for memory that is copied or set",
      advice: expect.stringContaining("set less"),
    });
  });

  it("are in the headline and in the bar", () => {
    const answer = answerOf(
      sketched({ ranges: [step(1000)], kernels: [memory("memset", 1, 700)] }),
    );
    expect(answer?.headline).toMatch(/the GPU copies or sets memory and runs no kernel\./);
    expect(renderMarkdown(answer === null ? [] : answerBlocks(answer))).toContain(
      "copies or sets alone 70.0 % (700.0 µs)",
    );
  });

  it("are beside what computes, and neither issues them nor waits", () => {
    const ranges = (cpu: number) => [
      { name: "load", thread: 2, start: 0, end: 20 * US, cpu: 20 * US },
      { ...step(1000), cpu },
    ];
    const kernels = [memory("memcpy", 10, 700, { thread: 2 })];
    expect(reasonIn({ ranges: ranges(990 * US), kernels })?.title).toBe("computes beside copies");
    expect(reasonIn({ ranges: ranges(300 * US), kernels })?.title).toBe("waits for copies");
    const own = [memory("memcpy", 10, 700)];
    expect(reasonIn({ ranges: ranges(990 * US), kernels: own })?.title).toBe("waits for copies");
    const waits = [{ call: 20 * US, ns: 600 * US }];
    expect(reasonIn({ ranges: ranges(990 * US), kernels, waits })?.title).toBe("waits for copies");
  });
});

it("threads beside a region do not wait in its time", () => {
  const ranges = [step(1000), { name: "late", start: 1100 * US, end: 1200 * US }];
  const waits = [1, 2, 3].map((thread) => ({ thread, call: 0, ns: 990 * US }));
  const report = firstOf(sketched({ ranges, waits, kernels: [kernel(1, 1)], endNs: 1_200_000 }));
  expect(reasonOf(report)?.rule).toBe("waits_for_gpu");
  // Two threads without a range waited for 1,980 µs, and 100 µs have no range.
  expect(reasonOf(report, "wall", "(outside)")?.rule).not.toBe("waits_for_gpu");
});

describe("counters of a region", () => {
  const peaks = (sm: number, memory: number): NCUProfileRegion["metrics"] => ({
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": { value: sm, unit: "%" },
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": {
      ...{ value: memory, unit: "%" },
    },
  });
  const counted = (ownUs: number, insideUs: number, sm = 90, memory = 20) =>
    withRegions(
      firstOf(
        sketched({
          ranges: [step(1000), { name: "inner", start: 500 * US, end: 1000 * US }],
          kernels: [kernel(1, ownUs), kernel(510, insideUs, { name: "other" })],
        }),
      ),
      (region) => ({ ...region, metrics: { ...region.metrics, ...peaks(sm, memory) } }),
    );

  it("are of its own kernels where few run in regions inside", () => {
    expect(reasonOf(counted(300, 20), "gpu")).toMatchObject({
      rule: "compute_bound",
      evidence: "memory at 20.0 % of its peak, multiprocessors at 90.0 %",
    });
    expect(reasonOf(counted(300, 100), "gpu")).toMatchObject({
      rule: "compute_bound",
      evidence:
        "memory at 20.0 % of its peak, multiprocessors at 90.0 %; counted with the kernels of regions inside (25.0 % of the time)",
    });
    expect(reasonOf(counted(100, 300), "gpu")?.rule).toBe("one_kernel");
  });

  it("of a whole range cover the time in which the GPU is idle", () => {
    const whole = withRegions(counted(100, 0, 12, 9), (region) => ({
      ...region,
      ...{ kernels: [], exclusive_ms: null },
    }));
    expect(reasonOf(whole, "gpu")).toMatchObject({
      rule: "latency",
      title: "neither memory nor multiprocessors are used well in it",
      evidence: expect.stringMatching(
        /; of the whole range, in which the GPU is busy for 20\.0 %$/,
      ),
      advice: expect.stringMatching(/^see first for how long the GPU is idle in it/),
    });
    const unknown = withRegions(whole, ({ gpu_activity: _, ...region }) => region);
    expect(reasonOf(unknown, "gpu")?.evidence).toMatch(
      /; of the whole range, with the time in which the GPU is idle$/,
    );
  });

  it("of whole ranges are ranked with the regions inside, by the GPU time of ranges", () => {
    const report = withRegions(counted(100, 100), ({ gpu_activity: _, ...region }) => ({
      ...region,
      ...{ kernels: [], exclusive_ms: null, wall_ms: null, wall_exclusive_ms: null },
    }));
    const { run: _, ...totals } = report.totals;
    const answer = answerOf({ contract: CONTRACT, reports: [{ ...report, totals }] });
    expect(answer?.byGpu[0]).toMatchObject({ base: "GPU time of ranges", label: "step" });
    const text = renderMarkdown(answer === null ? [] : answerBlocks(answer));
    expect(text).toContain("with regions inside, as a share of the GPU time of ranges");
    expect(text).not.toContain("kernel time");
  });
});

describe("several GPUs of one process", () => {
  const headline = (...kernels: readonly KernelSketch[]) =>
    answerOf(sketched({ ranges: [step(1000)], kernels }))?.headline;

  it("are not all said to run what one of them does", () => {
    expect(headline(kernel(1, 900), kernel(1, 20, { device: 1 }))).toMatch(
      /^Kernels run on at least one of 2 GPUs for 90\.0 % of the run/,
    );
    expect(headline(kernel(1, 900))).toMatch(/^Kernels run for 90\.0 % of the run/);
  });

  it("are idle only together", () => {
    expect(headline(kernel(1, 200), kernel(1, 20, { device: 1 }))).toMatch(
      /ranges are open and each of 2 GPUs is idle\./,
    );
  });
});

it("what differs in digits that are not shown is not all of the time", () => {
  const operations = { domain: "ops", name: "conv" };
  const model = buildRegionModel(
    timelineOf([
      {
        ranges: [
          { ...step(1_000_000), cpu: 1_000_000 * US },
          { ...operations, start: 1 * US, end: 1_000_000 * US },
        ],
      },
    ]),
    { operationDomains: ["ops"] },
  );
  expect(reasonOf(firstOf(toReportBundle(model, context)))?.evidence).toMatch(
    /^operations take almost all of 1\.00 s, /,
  );
});
