import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { aggregateOf, regionAt } from "./models.ts";
import { type ProcessSketch, processOf, timelineOf } from "./timelines.ts";

describe("times", () => {
  it("counts recursion once in wall time and kernels", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "X", start: 0, end: 50 },
        { name: "X", start: 2, end: 20 },
        { name: "X", start: 30, end: 40 },
      ],
      kernels: [{ name: "k", launch: 15, ns: 1000 }],
    };
    expect(regionAt(sketch, "X")).toMatchObject({ invocations: 1, wallNs: 50, kernelCount: 1 });
    const inner = regionAt(sketch, "X/X");
    expect(inner).toMatchObject({ invocations: 2, wallNs: 28, kernelNs: 1000, kernelCount: 1 });
    expect(inner.invocationWallNs).toMatchObject({ min: 10, max: 18 });
  });

  it("subtracts children once where they overlap", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "P", start: 0, end: 100, kind: "start_end" },
        { name: "w", start: 10, end: 50, thread: 2 },
        { name: "w", start: 30, end: 70, thread: 3 },
      ],
    };
    expect(regionAt(sketch, "P")).toMatchObject({ wallNs: 100, exclusiveWallNs: 40 });
    expect(regionAt(sketch, "P/w")).toMatchObject({ wallNs: 80, exclusiveWallNs: 80 });
  });

  it("covers wall time of outermost ranges once in the totals", () => {
    const { totals } = aggregateOf({
      ranges: [
        { name: "a", start: 0, end: 10, thread: 1 },
        { name: "a", start: 5, end: 15, thread: 2 },
        { name: "b", start: 20, end: 25 },
      ],
    });
    expect(totals.wallNs).toBe(20);
  });

  it("tells the call that began first, whichever ended first", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "a", start: 0, end: 100 },
        { name: "a", start: 10, end: 20, thread: 2 },
        { name: "a", start: 30, end: 35, thread: 3 },
      ],
    };
    expect(regionAt(sketch, "a").invocationWallNs).toMatchObject({ first: 100, min: 5 });
    expect(regionAt(sketch, "a")).not.toHaveProperty("unclosed");
  });

  it("adds up what GPUs did in a region of several processes", () => {
    const process = (pid: number, ns: number): ProcessSketch => ({
      pid,
      ranges: [{ name: "a", start: 0, end: 3000 }],
      kernels: [
        { name: "k", launch: 10, ns },
        { name: "copy", launch: 500, ns: 100, kind: "memcpy", bytes: 1 },
      ],
    });
    const { scopes } = buildRegionModel(timelineOf([process(1, 200), process(2, 50)]));
    expect(scopes[0]?.regions[0]?.gpuUse).toEqual({ busyNs: 450, kernelNs: 250, copyNs: 200 });
  });

  it("closes open ranges at the process's last event and says so", () => {
    const scope = aggregateOf({
      ranges: [
        { name: "open", start: 10, end: null },
        { name: "inside", start: 20, end: 40 },
      ],
      endNs: 60,
      finished: false,
    });
    const [open] = scope.regions;
    expect(open).toMatchObject({ wallNs: 50, exclusiveWallNs: 30 });
    expect(open?.notes.join()).toContain("never closed");
    expect(scope.notes).toContain(
      "process 100: 1 range was never closed (open); it lasts at least until the end of the process, as far as it is known",
    );
  });

  it("lets a range without duration end, and one that never closed last to the last launch", () => {
    const sketch: ProcessSketch = {
      ranges: [
        { name: "instant", start: 5, end: 5 },
        { name: "open", start: 10, end: null },
      ],
      kernels: [
        { name: "k", launch: 20, ns: 1 },
        { name: "k", launch: 90, ns: 1 },
      ],
    };
    expect(regionAt(sketch, "instant")).not.toHaveProperty("unclosed");
    expect(regionAt(sketch, "open")).toMatchObject({ wallNs: 80, unclosed: 1 });
    for (const launches of [[20, 90], []]) {
      const process = processOf({ ranges: sketch.ranges ?? [] });
      const kernels = processOf({
        kernels: launches.map((launch) => ({ name: "k", launch, ns: 1 })),
      }).kernels;
      const ordered = Object.assign([...kernels], { isOrdered: true as const });
      const [scope] = buildRegionModel({
        ...timelineOf([]),
        processes: [{ ...process, kernels: ordered }],
      }).scopes;
      expect(scope?.regions.find(({ path }) => path[0] === "open")?.wallNs).toBe(
        Math.max(0, ...launches.map((launch) => launch - 10)),
      );
    }
  });

  describe("of processors", () => {
    it("leaves out of the exclusive time what the same thread opened inside", () => {
      const sketch: ProcessSketch = {
        ranges: [
          { name: "step", start: 0, end: 100, cpu: 60 },
          { name: "inner", start: 10, end: 40, cpu: 25 },
          { name: "step", start: 200, end: 260, cpu: 50 },
          { name: "elsewhere", start: 20, end: 90, cpu: 70, thread: 2 },
        ],
      };
      expect(regionAt(sketch, "step").cpu).toEqual({
        ns: 110,
        exclusiveNs: 85,
        invocationNs: { min: 50, median: 55, max: 60, p95: 60 },
      });
      expect(regionAt(sketch, "step/inner").cpu).toMatchObject({ ns: 25, exclusiveNs: 25 });
      expect(aggregateOf(sketch).totals.cpuNs).toBe(180);
    });

    it("and instructions of a range are its own where another thread opened one inside", () => {
      const sketch: ProcessSketch = {
        ranges: [
          {
            name: "job",
            start: 0,
            end: 100,
            kind: "start_end",
            thread: 2,
            cpu: 50,
            instructions: 70,
          },
          { name: "work", start: 10, end: 60, cpu: 25, instructions: 40 },
          { name: "part", start: 20, end: 30, cpu: 5, instructions: 15 },
          { name: "part", start: 40, end: 50, cpu: 6, instructions: 16 },
        ],
      };
      const own = (path: string) => {
        const { cpu, instructions } = regionAt(sketch, path);
        return [cpu?.exclusiveNs, instructions];
      };
      expect(own("job")).toEqual([50, { count: 70, exclusive: 70 }]);
      expect(own("job/work")).toEqual([14, { count: 40, exclusive: 9 }]);
      expect(own("job/work/part")).toEqual([11, { count: 31, exclusive: 31 }]);
    });

    it("counts recursion once, and never more than the range lasted", () => {
      const sketch: ProcessSketch = {
        ranges: [
          { name: "x", start: 0, end: 100, cpu: 101, counts: [4, 0, 1, 0] },
          { name: "x", start: 10, end: 40, cpu: 20, counts: [2, 0, 1, 0] },
          { name: "x", start: 15, end: 25, cpu: 5, counts: [1, 0, 0, 0] },
        ],
      };
      expect(regionAt(sketch, "x").cpu).toMatchObject({ ns: 100, exclusiveNs: 80 });
      const unified = aggregateOf(sketch).regions;
      expect(unified.map(({ counts }) => counts)).toEqual([
        [4, 0, 1, 0],
        [2, 0, 1, 0],
        [1, 0, 0, 0],
      ]);
    });

    it("is unknown of a region unless it is known of every call", () => {
      const sketch: ProcessSketch = {
        ranges: [
          { name: "handed over", start: 0, end: 10, cpu: 5, kind: "start_end" },
          { name: "handed over", start: 20, end: 30, kind: "start_end" },
          { name: "old", start: 40, end: 50 },
        ],
      };
      expect(regionAt(sketch, "handed over").cpu).toBeUndefined();
      expect(regionAt(sketch, "old").cpu).toBeUndefined();
      expect(regionAt(sketch, "old").counts).toBeUndefined();
      expect(
        aggregateOf({ ranges: [{ name: "old", start: 0, end: 1 }] }).totals,
      ).not.toHaveProperty("cpuNs");
    });
  });

  it("takes an open range to the last thing of its process, whatever that is", () => {
    const open = { name: "open", start: 10, end: null };
    const wall = (rest: ProcessSketch) =>
      regionAt({ endNs: 20, ...rest, ranges: [open, ...(rest.ranges ?? [])] }, "open").wallNs;
    const launch = { name: "k", launch: 70, ns: 1 };
    expect(wall({})).toBe(10);
    expect(wall({ ranges: [{ name: "later", start: 30, end: 50 }] })).toBe(40);
    expect(wall({ ranges: [{ name: "later", start: 40, end: null }] })).toBe(30);
    expect(wall({ kernels: [launch] })).toBe(60);
    expect(wall({ kernels: [launch, { ...launch, launch: 30 }] })).toBe(60);
    const { processes } = timelineOf([{ ranges: [open], endNs: 20 }]);
    const mark = {
      domain: "",
      name: "m",
      threadId: 1,
      timeNs: 90,
      category: null,
      color: null,
      payload: null,
    };
    const marked = processes.map((process) => ({ ...process, marks: [mark] }));
    const { scopes } = buildRegionModel({ ...timelineOf([]), processes: marked });
    expect(scopes[0]?.regions[0]?.wallNs).toBe(80);
  });

  it("names five of the ranges that were never closed, each once and cut where it is long", () => {
    const unclosed = (...names: readonly string[]) =>
      aggregateOf({ ranges: names.map((name, start) => ({ name, start, end: null })) })
        .notes.find((note) => note.includes("never closed"))
        ?.replace(/^process 100: |; (it|they) lasts? at least .*$/g, "");
    expect(unclosed("a", "b", "c", "d", "e")).toBe("5 ranges were never closed (a, b, c, d, e)");
    expect(unclosed(..."abcdefg")).toBe("7 ranges were never closed (a, b, c, d, e and 2 more)");
    expect(unclosed("a", "a")).toBe("2 ranges were never closed (a)");
    expect(unclosed("x".repeat(80))).toBe(`1 range was never closed (${"x".repeat(80)})`);
    expect(unclosed("x".repeat(81))).toBe(`1 range was never closed (${"x".repeat(79)}…)`);
  });
});
