import { describe, expect, it } from "vitest";
import { createResultReader } from "../../../../../src/profiler/tools/ncu/read-results.ts";
import { filterTop, topKernels } from "../../../../../src/profiler/tools/ncu/run/top-kernels.ts";
import type { NcuConfig } from "../../../../../src/profiler/tools/profiler-config.ts";
import { timelineOf } from "../../../analysis/timelines.ts";
import { resultsOf } from "../results.ts";
import { cliConfig } from "./cli-config.ts";

const config: NcuConfig = {
  enable: true,
  gating_nvtx: true,
  native_nvtx: true,
  fallback: true,
  require_match: false,
  timeout_min: null,
  top_n_kernels: 2,
  ncu_cli: cliConfig,
};
const GEMM = "void ns::gemm<float, 4>(float *)";
const recorded = timelineOf([
  {
    ranges: [{ name: "A", start: 0, end: 1000 }],
    kernels: [
      { name: GEMM, launch: 10, ns: 50 },
      { name: "pool", launch: 20, ns: 30 },
      { name: "copy", launch: 30, ns: 5 },
    ],
  },
]);

const without = timelineOf([{ ranges: [], kernels: [] }]);

describe("topKernels", () => {
  it("are those with the most GPU time, of the first recording that has kernels", () => {
    const recordings = [
      { by: "the recorder", timelines: [without] },
      { by: "nsys", timelines: [recorded] },
      { by: "another", timelines: [timelineOf([{ kernels: [{ name: "x", launch: 1, ns: 9 }] }])] },
    ];
    expect(topKernels(config, recordings)).toEqual({
      names: [GEMM, "pool"],
      notes: [
        `pipeline.ncu.top_n_kernels=2: profiling the kernels with the most GPU time recorded by nsys: ${GEMM}; pool`,
      ],
    });
    expect(topKernels({ top_n_kernels: 9 }, recordings).notes.join()).toContain("all kernels");
    expect(topKernels({ top_n_kernels: null }, recordings)).toEqual({ names: null, notes: [] });
    expect(topKernels({}, recordings).names).toBeNull();
  });

  it("are those of all runs together where the program was run several times", () => {
    const run = (name: string, ns: number) => timelineOf([{ kernels: [{ name, launch: 1, ns }] }]);
    const timelines = [run("a", 30), run("b", 40), run("a", 30)];
    expect(topKernels({ top_n_kernels: 1 }, [{ by: "nsys", timelines }]).names).toEqual(["a"]);
  });

  it("limit nothing where no recording has kernels, and say so", () => {
    const { names, notes } = topKernels(
      config,
      [{ by: "nsys", timelines: [without] }],
      "trace=nvtx",
    );
    expect(names).toBeNull();
    expect(notes).toEqual([
      "pipeline.ncu.top_n_kernels=2 has no effect, and every kernel is profiled: nsys recorded no GPU kernels (trace=nvtx)",
    ]);
    expect(topKernels(config, []).notes.join()).toContain("there is no recording");
  });

  it("are asked of ncu by their functions, unless the user names kernels", () => {
    expect(filterTop(cliConfig, [GEMM, "pool", "a$b"])).toMatchObject({
      kernel_name: "regex:^(gemm|pool|a\\$b)$",
      kernel_name_base: "function",
    });
    const own = { ...cliConfig, kernel_name: "mine" };
    expect(filterTop(own, [GEMM])).toBe(own);
    expect(filterTop(cliConfig, ["_Z4gemmPf"])).toBe(cliConfig);
    expect(filterTop(cliConfig, null)).toBe(cliConfig);
  });

  it("are the only ones that count in the report, which says so", async () => {
    const reader = createResultReader({
      config,
      aggregate: true,
      operationDomains: [],
      recorded,
      top: [GEMM, "pool"],
    });
    const { results, sections, notes } = resultsOf(
      { in: ["A"], kernel: GEMM, ns: 50 },
      { in: ["A"], kernel: "copy", ns: 5 },
    );
    await reader.readPass(null, async (onResult) => {
      for (const result of results) onResult(result);
      return { results: results.length, sections, notes, unread: null };
    });
    const { measured } = reader.finish();
    if (measured.kind !== "regions") throw new Error("ncu gives regions");
    const [scope] = measured.model.scopes;
    expect(scope?.regions.map(({ kernelCount }) => kernelCount)).toEqual([1]);
    expect(scope?.notes.join("\n")).toContain("the longest 2 of a recording");
  });
});
