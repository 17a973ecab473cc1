import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../../../src/profiler/analysis/to-report.ts";
import { readNsysExport } from "../../../../src/profiler/tools/nsys/read/read-export.ts";
import { answerOf } from "../../../../src/report/view/answer.ts";
import { hostCallTable } from "../../../../src/report/view/report-tables.ts";
import { context } from "../../../report/bundles.ts";
import { samplesOrSkip } from "../../../shared.ts";
import { globalId, range, type Tables, writeExport } from "./exports.ts";

const MS = 1e6;
const strings = [
  { id: 1, value: "cudaMalloc_v3020" },
  { id: 2, value: "cudaLaunchKernel_v7000" },
  { id: 3, value: "pthread_mutex_lock" },
  { id: 4, value: "nanosleep" },
  { id: 5, value: "cudaMallocAsync_v11020" },
];
const thread = globalId(7, 7);
const at = (text: string, start: number, end: number) => ({
  ...range,
  globalTid: thread,
  text,
  start: start * MS,
  end: end * MS,
});
const call = (nameId: number, start: number, end: number, globalTid = thread) => ({
  start: start * MS,
  end: end * MS,
  globalTid,
  nameId,
  correlationId: start,
});

const reportOf = (tables: Tables) => {
  const timeline = readNsysExport(writeExport({ StringIds: strings, ...tables }));
  return toReportBundle(buildRegionModel(timeline), context);
};

describe("calls of CUDA and of the system", () => {
  const bundle = reportOf({
    NVTX_EVENTS: [at("step", 0, 400), at("setup", 10, 310), at("wait", 320, 390)],
    CUPTI_ACTIVITY_KIND_RUNTIME: [
      ...[20, 120, 220].map((start) => call(1, start, start + 90)),
      call(2, 5, 6),
      // Before every range.
      call(5, -20, -5),
    ],
    OSRT_API: [call(3, 325, 385), call(4, 311, 312), call(4, 330, 380, globalId(7, 9))],
  });
  const [report] = bundle.reports;
  const calls = Object.fromEntries(
    (report?.regions ?? []).map(({ name, host_calls }) => [name, host_calls]),
  );

  it("count for the innermost range of their thread, without the version of CUDA", () => {
    expect(calls).toMatchObject({
      step: [
        { api: "cuda", name: "cudaLaunchKernel", calls: 1, total_ms: 1, max_ms: 1 },
        { api: "os", name: "nanosleep", calls: 1, total_ms: 1 },
      ],
      setup: [{ api: "cuda", name: "cudaMalloc", calls: 3, total_ms: 270, max_ms: 90 }],
      wait: [{ api: "os", name: "pthread_mutex_lock", calls: 1, total_ms: 60 }],
      "(outside)": [
        { api: "os", name: "nanosleep", total_ms: 50 },
        {
          api: "cuda",
          name: "cudaMallocAsync",
          total_ms: 15,
          min_ms: 15,
          first_thread: { calls: 1, total_ms: 15 },
        },
      ],
    });
  });

  it("give the reason: allocations, and what a thread waits in", () => {
    const reasons = (answerOf(bundle)?.byWall ?? []).map(({ region, reason }) => [
      region.name,
      `${reason?.rule}: ${reason?.title}: ${reason?.evidence}`,
    ]);
    expect(Object.fromEntries(reasons)).toMatchObject({
      setup:
        "allocation_calls: allocates and frees memory of the GPU: cudaMalloc (3 calls): 270.00 ms of 300.00 ms",
      wait: "os_call: waits for a lock: pthread_mutex_lock (1 call): 60.00 ms of 70.00 ms",
    });
  });

  it("explain the time outside of ranges where its first thread is in them, and no range is open", () => {
    const outside = (tables: Tables) => {
      const regions = answerOf(reportOf(tables))?.byWall ?? [];
      const reason = regions.find(({ region: { kind } }) => kind === "outside")?.reason;
      return `${reason?.rule}: ${reason?.evidence}`;
    };
    const RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME";
    const between = [at("a", 0, 10), at("b", 90, 100)];
    expect(outside({ NVTX_EVENTS: between, [RUNTIME]: [call(2, 12, 88)] })).toBe(
      "cuda_call: cudaLaunchKernel (1 call): 76.00 ms of 80.00 ms",
    );
    expect(outside({ NVTX_EVENTS: between, OSRT_API: [call(4, 12, 88)] })).toBe(
      "os_call: nanosleep (1 call): 76.00 ms of 80.00 ms",
    );
    // A helper's wait is no part of the program's time.
    const helper = globalId(7, 9);
    expect(outside({ NVTX_EVENTS: between, OSRT_API: [call(4, 12, 88, helper)] })).not.toMatch(
      /os_call/,
    );
    // The first thread waits while another has a range open: the time outside of ranges is what is left.
    const worker = { ...at("work", 12, 80), globalTid: helper };
    expect(outside({ NVTX_EVENTS: [...between, worker], OSRT_API: [call(4, 11, 89)] })).toBe(
      "os_call: nanosleep (1 call): 10.00 ms of 12.00 ms",
    );
  });

  it("belong to the run, before and after its ranges", () => {
    const RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME";
    const early = reportOf({
      NVTX_EVENTS: [at("step", 40, 60)],
      [RUNTIME]: [call(1, 0, 30)],
      OSRT_API: [call(4, 65, 100), call(4, 66, 67)],
    });
    const [all] = early.reports;
    expect(all?.totals.run).toMatchObject({
      process_ms: 100,
      in_ranges_ms: 20,
      before_ranges_ms: 40,
      after_ranges_ms: 40,
    });
    const outside = all?.regions.find(({ kind }) => kind === "outside");
    expect(outside?.wall_ms).toBe(80);
    expect(answerOf(early)?.headline).toMatch(/^80\.0 % of the run \(80\.00 ms of 100\.00 ms\)/);
  });

  it("stand in tables as nsys stats has them", () => {
    const [table] = hostCallTable(report?.regions ?? [], "cuda");
    const rows = typeof table === "object" && "rows" in table ? [...table.rows] : [];
    expect(rows.map(({ cells }) => cells.slice(0, 3))).toEqual([
      ["cudaMalloc", 3, 270],
      ["cudaMallocAsync", 1, 15],
      ["cudaLaunchKernel", 1, 1],
    ]);
    expect(hostCallTable([], "os")).toEqual([]);
  });

  it("are passed over where a table lacks what is needed", () => {
    const { nameId: _, ...unnamed } = call(1, 20, 90);
    const [lacking] = reportOf({
      NVTX_EVENTS: [at("step", 0, 100)],
      OSRT_API: [unnamed],
    }).reports;
    expect(lacking?.regions[0]?.host_calls).toBeUndefined();
  });
});

const sample = samplesOrSkip("calls of CUDA in a public export");

it.skipIf(sample === null)("of a public export have the sums that SQL gives", () => {
  const timeline = readNsysExport(`${sample?.("")}/pub-nsysai-h100-2gpu-2026.2-schema3.25.sqlite`);
  const [report] = toReportBundle(buildRegionModel(timeline), context).reports;
  const all = (report?.regions ?? []).flatMap(({ host_calls = [] }) => host_calls);
  const sumOf = (wanted: string) =>
    all
      .filter(({ name }) => name === wanted)
      .reduce<readonly [number, number]>(
        ([calls, ms], one) => [calls + one.calls, ms + one.total_ms],
        [0, 0],
      );
  // SELECT count(*), sum(end - start) / 1e6 FROM CUPTI_ACTIVITY_KIND_RUNTIME, by name.
  expect(sumOf("cudaStreamSynchronize")).toEqual([8, expect.closeTo(856.929451, 5)]);
  expect(sumOf("cudaLaunchKernel")).toEqual([2788, expect.closeTo(509.738501, 5)]);
  expect(sumOf("cudaLaunchKernelExC")).toEqual([558, expect.closeTo(422.539482, 5)]);
});

describe("the memory that copies read and write", () => {
  const copy = (srcKind: number, dstKind: number) => ({
    start: 10 * MS,
    end: 90 * MS,
    deviceId: 0,
    streamId: 7,
    correlationId: 1,
    globalPid: globalId(7),
    copyKind: 1,
    bytes: 1000,
    srcKind,
    dstKind,
  });
  it("is named with the region that issues the copies, where another one waits for them", () => {
    const bundle = reportOf({
      NVTX_EVENTS: [at("upload", 0, 10), at("use", 12, 100)],
      CUPTI_ACTIVITY_KIND_MEMCPY: [copy(1, 2)],
      CUPTI_ACTIVITY_KIND_RUNTIME: [{ ...call(6, 5, 6), correlationId: 1 }],
      StringIds: [...strings, { id: 6, value: "cudaMemcpyAsync_v3020" }],
    });
    const reasons = (answerOf(bundle)?.byWall ?? []).map(({ label, reason }) => [
      label,
      reason?.evidence,
    ]);
    expect(Object.fromEntries(reasons)["use"]).toBe(
      "78.00 ms of 88.00 ms copies run, and no kernel; upload issues 100.0 % of the time of all copies; of that, 0.0 % from or to pageable memory",
    );
  });

  const adviceOf = (srcKind: number, dstKind: number) => {
    const bundle = reportOf({
      NVTX_EVENTS: [at("load", 0, 100)],
      CUPTI_ACTIVITY_KIND_MEMCPY: [copy(srcKind, dstKind)],
      CUPTI_ACTIVITY_KIND_RUNTIME: [{ ...call(6, 5, 95), correlationId: 1 }],
      StringIds: [...strings, { id: 6, value: "cudaMemcpy_v3020" }],
    });
    const [first] = answerOf(bundle)?.byWall ?? [];
    expect(first?.reason?.rule).toBe("copies");
    return `${first?.reason?.evidence}. ${first?.reason?.advice}`;
  };

  it("is pinned on advice only where it is pageable", () => {
    const said = adviceOf(0, 2);
    expect(said).toMatch(/of the time that it copies, 100\.0 % from or to pageable memory/);
    expect(said).toMatch(/its threads are in cudaMemcpy for 90\.00 ms/);
    expect(said).toMatch(/with pinned memory in place of pageable$/);
    expect(adviceOf(1, 2)).toMatch(/cudaMemcpyAsync on a stream of its own$/);
    expect(adviceOf(1, 2)).toMatch(/ 0\.0 % from or to pageable memory/);
  });
});
