import { describe, expect, it } from "vitest";
import { aggregateOf, tree } from "./models.ts";
import type { ProcessSketch } from "./timelines.ts";

const OPS = "shallow_resnet.ops";

describe("kernels and operations", () => {
  it("takes ranges of operation domains as CPU operations, never as regions", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "stem", start: 0, end: 100 },
        { name: "conv", start: 10, end: 60, domain: OPS },
        { name: "gemm", start: 20, end: 50, domain: OPS },
        { name: "relu", start: 70, end: 80, domain: OPS },
        { name: "late", start: 200, end: 205, domain: OPS },
      ],
    };
    const { regions, totals } = aggregateOf(sketch);
    expect(tree(regions)).toEqual(["stem", "(outside)"]);
    // A composite operation counts without its parts, so that the list adds up.
    expect(
      regions[0]?.kernels.map(({ kernel_name, kind, total_ms }) => [
        kernel_name,
        kind,
        (total_ms ?? 0) * 1e6,
      ]),
    ).toEqual([
      ["gemm", "cpu_operation", 30],
      ["conv", "cpu_operation", 20],
      ["relu", "cpu_operation", 10],
    ]);
    expect(regions[0]).toMatchObject({ device: "cpu", kernelNs: 60, kernelCount: 3 });
    expect(totals).toMatchObject({ kernelNs: 65, outsideNs: 5, outsideKernelCount: 1 });
  });

  it("counts operations that overlap, one thread's or several, for the time that is theirs", () => {
    const operation = (name: string, start: number, end: number, thread = 1) => ({
      ...{ name, start, end, thread, domain: OPS },
    });
    const { regions } = aggregateOf({
      ranges: [
        { name: "stem", start: 0, end: 100 },
        { name: "block", start: 5, end: 60 },
        operation("a", 10, 30),
        operation("b", 20, 50),
        operation("c", 25, 28),
        operation("d", 12, 40, 2),
      ],
    });
    const times = regions.map(({ path, kernels }) => [
      path.join("/"),
      ...kernels.map(({ kernel_name, total_ms }) => [kernel_name, (total_ms ?? 0) * 1e6]),
    ]);
    // What overlaps counts for the one that was opened last.
    expect(times).toEqual([
      ["stem", ["b", 27], ["a", 10], ["c", 3]],
      ["stem/block", ["b", 27], ["a", 10], ["c", 3]],
      ["(outside)", ["d", 28]],
    ]);
  });

  it("lists kernels of one name on one device once, the longest first, then by name", () => {
    const launches = [
      { name: "b", launch: 1, ns: 4 },
      { name: "a", launch: 2, ns: 3, device: 1 },
      { name: "a", launch: 3, ns: 2 },
      { name: "b", launch: 4, ns: 6, device: 1 },
      { name: "a", launch: 5, ns: 2 },
    ];
    const [region] = aggregateOf({
      ranges: [{ name: "step", start: 0, end: 10 }],
      kernels: launches,
    }).regions;
    expect(
      region?.kernels.map(({ kernel_name, device, calls, total_ms, mean_ms }) => [
        kernel_name,
        device,
        calls,
        (total_ms ?? 0) * 1e6,
        (mean_ms ?? 0) * 1e6,
      ]),
    ).toEqual([
      ["b", "cuda:1", 1, 6, 6],
      ["a", "cuda:0", 2, 4, 2],
      ["b", "cuda:0", 1, 4, 4],
      ["a", "cuda:1", 1, 3, 3],
    ]);
  });

  it("counts kernels instead of operations where both were recorded, and says so", () => {
    const { regions, notes } = aggregateOf({
      ranges: [
        { name: "stem", start: 0, end: 100 },
        { name: "conv", start: 10, end: 60, domain: OPS },
      ],
      kernels: [{ name: "k", launch: 20, ns: 7 }],
    });
    expect(regions[0]?.kernels.map(({ kernel_name }) => kernel_name)).toEqual(["k"]);
    expect(notes).toEqual([
      "process 100: 1 CPU operation is not counted because GPU kernels were recorded",
    ]);
  });

  it("lets the launch decide, not the execution", () => {
    const { regions } = aggregateOf({
      ranges: [{ name: "a", start: 0, end: 10 }],
      kernels: [
        { name: "in", launch: 9, ns: 5 },
        { name: "out", launch: 10, ns: 5 },
      ],
    });
    expect(regions.map(({ path, kernels }) => [path[0], kernels[0]?.kernel_name])).toEqual([
      ["a", "in"],
      ["(outside)", "out"],
    ]);
    // The bucket is no range: its time is what no range has of the process.
    expect(regions[1]).toMatchObject({ invocations: 0, wallNs: 0, exclusiveWallNs: 0 });
  });

  it("counts a kernel whose launch was not recorded as outside every range", () => {
    const sketch: ProcessSketch = {
      ranges: [{ name: "epoch", start: 0, end: 9_000, kind: "start_end" }],
      kernels: [
        { name: "known", launch: 10, ns: 5 },
        { name: "unknown", launch: 20, ns: 7, thread: null },
      ],
    };
    const numbers = aggregateOf(sketch).regions.map(({ path, kernelNs }) => [
      path.at(-1),
      kernelNs,
    ]);
    expect(numbers).toEqual([
      ["epoch", 5],
      ["(outside)", 7],
    ]);
  });

  it("has no kernel time, rather than zero, where nothing was recorded", () => {
    const { regions, totals, notes } = aggregateOf({
      ranges: [{ name: "a", start: 0, end: 10 }],
    });
    expect(regions[0]).toMatchObject({ kernelNs: null, exclusiveKernelNs: null, kernelCount: 0 });
    expect(totals).toMatchObject({ kernelNs: null, outsideNs: null });
    expect(notes.join()).toContain("only wall times");
  });

  it("keeps a user's range called (outside) apart from the bucket", () => {
    const { regions } = aggregateOf({
      ranges: [{ name: "(outside)", start: 0, end: 10 }],
      kernels: [
        { name: "in", launch: 5, ns: 5 },
        { name: "out", launch: 50, ns: 5 },
      ],
    });
    expect(regions.map(({ kind }) => kind)).toEqual(["push_pop", "outside"]);
  });
});
