/** Ranges that are not kept in memory, but read one after the other, give what they give where they are kept. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import {
  createRangeReplay,
  type ProcessTimeline,
  type RangeInstance,
  type RangeStream,
} from "../../../src/profiler/model/timeline.ts";
import {
  anyKernels,
  anyNumbers,
  anyRanges,
  type ProcessSketch,
  processOf,
  timelineOf,
  wellNested,
} from "./timelines.ts";

const options = { operationDomains: ["x"] };

const modelOf = (process: ProcessTimeline) =>
  buildRegionModel({ ...timelineOf([]), processes: [process] }, options);

/** A reader that knows the ends of ranges as they open. */
const readAhead = (ranges: readonly RangeInstance[]): RangeStream => ({
  count: ranges.length,
  replay: (handlers) =>
    createRangeReplay(ranges.length, (place) => ranges[place], handlers).until(
      Number.POSITIVE_INFINITY,
    ),
});

/** A reader that knows of a range at its opening only what a program then says. */
const readOnce = (ranges: readonly RangeInstance[]): RangeStream => ({
  count: ranges.length,
  replay({ opens, closes }) {
    const open = new Map<RangeInstance, RangeInstance>();
    createRangeReplay(ranges.length, (place) => ranges[place], {
      opens(range) {
        const { cpuNs: _cpuNs, counts: _counts, instructions: _instructions, ...known } = range;
        const opening = { ...known, endNs: null, payload: null };
        open.set(range, opening);
        opens(opening, null);
      },
      closes(range) {
        const opening = open.get(range);
        if (opening !== undefined) closes(Object.assign(opening, range));
      },
    }).until(Number.POSITIVE_INFINITY);
  },
});

/** A process that knows its last event, as that of a stream must. */
function endedProcess(sketch: ProcessSketch): ProcessTimeline {
  const process = processOf(sketch);
  const launches = [...process.kernels].map(({ launchNs }) => launchNs);
  return { ...process, endNs: Math.max(process.endNs, ...launches) };
}

const streamed = (process: ProcessTimeline, allRanges: RangeStream): ProcessTimeline => ({
  ...process,
  ranges: process.ranges.slice(0, 1),
  allRanges,
});

const operation = (name: string, start: number, end: number) => ({
  ...{ name, start, end, domain: "x" },
});

/** Some are operations. */
const measured = fc.record({ numbers: anyNumbers, domain: fc.constantFrom("", "x") });

describe("ranges of a stream", () => {
  it("count as kept ones do, whatever overlaps", () => {
    fc.assert(
      fc.property(
        anyRanges,
        fc.infiniteStream(anyNumbers),
        fc.oneof(anyKernels, fc.constant([])),
        (ranges, numbers, kernels) => {
          const process = endedProcess({
            ranges: ranges.map((range) => ({ ...range, ...numbers.next().value })),
            kernels,
          });
          expect(modelOf(streamed(process, readAhead(process.ranges)))).toEqual(modelOf(process));
        },
      ),
    );
  });

  it("count as kept ones do where their ends are not known before they close", () => {
    fc.assert(
      fc.property(
        wellNested,
        fc.infiniteStream(measured),
        fc.boolean(),
        ({ ranges = [], kernels = [] }, more, isOnGpu) => {
          const process = endedProcess({
            ranges: ranges.map((range) => {
              const { domain, numbers } = more.next().value;
              return { ...range, domain, ...numbers };
            }),
            kernels: isOnGpu ? kernels : [],
          });
          expect(modelOf(streamed(process, readOnce(process.ranges)))).toEqual(modelOf(process));
        },
      ),
    );
  });

  it("that are operations count for the time that is theirs, also where they overlap", () => {
    const process = endedProcess({
      ranges: [
        { name: "step", start: 0, end: 100 },
        operation("a", 10, 30),
        operation("b", 20, 50),
        operation("c", 25, 28),
      ],
    });
    const [region] = modelOf(streamed(process, readAhead(process.ranges))).scopes[0]?.regions ?? [];
    expect(
      region?.kernels.map(({ kernel_name, total_ms }) => [kernel_name, (total_ms ?? 0) * 1e6]),
    ).toEqual([
      ["b", 27],
      ["a", 10],
      ["c", 3],
    ]);
  });

  it("that close without having opened leave those that are open alone", () => {
    const process = endedProcess({ ranges: [operation("a", 10, 90), operation("lost", 20, 30)] });
    const withoutOpening: RangeStream = {
      count: 2,
      replay: ({ opens, closes }) =>
        readOnce(process.ranges).replay({
          opens: (range, endNs) => range.name === "lost" || opens(range, endNs),
          closes,
        }),
    };
    const [outside] = modelOf(streamed(process, withoutOpening)).scopes[0]?.regions ?? [];
    expect(
      outside?.kernels.map(({ kernel_name, total_ms }) => [kernel_name, (total_ms ?? 0) * 1e6]),
    ).toEqual([["a", 80]]);
  });

  it("are as long as the process if they never close", () => {
    const process = endedProcess({
      endNs: 50,
      ranges: [
        { name: "a", start: 10, end: null },
        { name: "b", start: 20, end: null },
        { name: "c", start: 22, end: 25 },
        { name: "op", start: 30, end: null, domain: "x" },
        { name: "op", start: 35, end: null, domain: "x" },
        { name: "late", start: 70, end: null, thread: 2 },
      ],
    });
    const kept = modelOf(process);
    expect(kept.scopes[0]?.regions.map(({ path, wallNs }) => [path.join("/"), wallNs])).toEqual([
      ["a", 60],
      ["a/b", 50],
      ["a/b/c", 3],
      ["late", 0],
      ["(outside)", 10],
    ]);
    for (const read of [readAhead, readOnce])
      expect(modelOf(streamed({ ...process, endNs: 70 }, read(process.ranges)))).toEqual(kept);
  });
});
