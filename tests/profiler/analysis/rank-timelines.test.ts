/** Recordings of ranks, a file each, are put on one clock: all their times, and nothing else. */
import { describe, expect, it } from "vitest";
import { rankNumbers, timelineOfRanks } from "../../../src/profiler/analysis/ranks.ts";
import type {
  KernelInstance,
  ProcessTimeline,
  RangeInstance,
  RangeStream,
  Timeline,
} from "../../../src/profiler/model/timeline.ts";
import { processOf, timelineOf } from "./timelines.ts";

/** A process with something of everything that has a time; `at` is its first. */
function processAt(at: number): ProcessTimeline {
  const base = processOf({
    pid: 7,
    ranges: [
      { name: "step", start: at + 10, end: at + 60 },
      { name: "open", start: at + 70, end: null },
    ],
    kernels: [{ name: "gemm", launch: at + 20, ns: 5 }],
    waits: [{ call: at + 30, ns: 4 }],
    categoryNames: [{ domain: "", category: 1, name: "io" }],
    notes: ["own"],
  });
  const call = {
    api: "os",
    name: "read",
    threadId: 1,
    startNs: at + 40,
    endNs: at + 45,
  } as const;
  return {
    ...base,
    startNs: at,
    endNs: at + 100,
    marks: [
      { domain: "", name: "m", threadId: 1, timeNs: at + 15, category: 2, color: null, payload: 3 },
    ],
    hostCalls: { length: 1, at: (index) => (index === 0 ? call : undefined) },
    counters: [
      {
        domain: "",
        name: "loss",
        unit: "",
        threadId: null,
        holds: true,
        timesNs: Float64Array.of(at + 11, at + 12),
        values: Float64Array.of(0.5, 0.25),
      },
      {
        domain: "",
        name: "clock",
        unit: "Hz",
        threadId: null,
        holds: true,
        timesNs: Float64Array.of(at + 13, at + 16),
        values: Float64Array.of(1e9, 2e9),
        endsNs: Float64Array.of(at + 14, at + 17),
      },
    ],
    threadSamples: [
      {
        threadId: 1,
        timeNs: at + 50,
        sinceNs: at + 41,
        state: "lock",
        queuedNs: 1,
        slices: 2,
        systemNs: 3,
        minorFaults: 4,
        majorFaults: 5,
        childrenNs: 6,
      },
    ],
  };
}

const began = (originNs: bigint, process: ProcessTimeline, notes: readonly string[] = []) => ({
  ...timelineOf([], notes),
  originNs,
  processes: [process],
});

const file = (rank: number, timeline: Timeline, host = "") => ({ rank, timeline, host });

/** A process as data: what its lists have. */
const shown = ({ kernels, hostCalls, ...process }: ProcessTimeline) => ({
  ...process,
  kernels: [...kernels],
  kernelsAt: Array.from({ length: kernels.length + 1 }, (_, at) => kernels.at(at)),
  calls: Array.from({ length: (hostCalls?.length ?? 0) + 1 }, (_, at) => hostCalls?.at(at)),
});

const unknown =
  "the exports do not all say when their sessions began: how long ranks wait for each other is not known";

describe("the timelines of ranks", () => {
  it("begin with the first session; all times of the others are as much later as they began", () => {
    const { processes, originNs, notes, collector, clock } = timelineOfRanks([
      file(1, began(5_000n, processAt(0), ["a", "b"]), "node2"),
      file(0, began(2_000n, processAt(0), ["b", "c"]), "node1"),
      file(2, began(4_000n, processAt(0)), "node2"),
    ]);
    expect([originNs, collector, clock]).toEqual([2_000n, "recorder", "CLOCK_MONOTONIC"]);
    expect(notes).toEqual(["b", "c", "a"]);
    const rank = (number: number, host: string, machine: number) => ({
      machine,
      rank: { rank: number, size: 3, localRank: null, host },
    });
    expect(processes.map(shown)).toStrictEqual([
      { ...shown(processAt(0)), ...rank(0, "node1", 0) },
      { ...shown(processAt(2_000)), ...rank(2, "node2", 1) },
      { ...shown(processAt(3_000)), ...rank(1, "node2", 1) },
    ]);
  });

  it("are as they were where a file does not say when it began", () => {
    const joined = timelineOfRanks([
      file(1, began(0n, processAt(30)), "a"),
      file(0, began(9_000n, processAt(40)), "a"),
    ]);
    expect(joined.notes).toEqual([unknown]);
    expect(joined.originNs).toBe(9_000n);
    // In order of their starts, whichever rank it is.
    expect(joined.processes.map(({ startNs, rank }) => [startNs, rank?.rank])).toEqual([
      [30, 1],
      [40, 0],
    ]);
  });

  it("have nothing that a file does not have", () => {
    const bare = processOf({ pid: 7, ranges: [{ name: "step", start: 0, end: 9 }] });
    const { processes } = timelineOfRanks([file(0, began(1n, bare)), file(1, began(1_001n, bare))]);
    const members = Object.keys(bare);
    expect(processes.map((process) => Object.keys(process))).toEqual([
      [...members, "machine", "rank"],
      [...members, "machine", "rank"],
    ]);
    expect(processes[1]?.ranges[0]?.endNs).toBe(1_009);
  });

  it("begin with the earliest of many sessions", () => {
    const origins = [70n, 9n, 800n, 60n];
    const joined = timelineOfRanks(
      origins.map((origin, rank) => file(rank, began(origin, processAt(0)))),
    );
    expect(joined.originNs).toBe(9n);
    expect(joined.processes.map(({ rank }) => rank?.rank)).toEqual([1, 3, 0, 2]);
  });

  it("have as many ranks as a file says, else as many as there are files", () => {
    const said = { rank: 5, size: 8, localRank: 1, host: "x" };
    const { processes } = timelineOfRanks([
      file(0, began(1n, { ...processAt(0), rank: said }), "a"),
      file(1, began(1n, processAt(1)), "a"),
    ]);
    expect(processes.map(({ rank }) => rank?.size)).toEqual([8, 2]);
  });

  it("read ranges that are too many to keep, and kernels in order, at their shifted times", () => {
    const [range, open] = processAt(0).ranges as [RangeInstance, RangeInstance];
    const stream: RangeStream = {
      count: 2,
      replay({ opens, closes }) {
        const opening = { ...range, endNs: null };
        opens(opening, range.endNs);
        opens(open, null);
        closes(Object.assign(opening, range));
      },
    };
    const isOrdered = { isOrdered: true as const };
    const kernels = Object.assign(
      [...processAt(0).kernels] as readonly KernelInstance[],
      isOrdered,
    );
    const { processes } = timelineOfRanks([
      file(0, began(1n, processAt(0))),
      file(1, began(1_001n, { ...processAt(0), kernels, allRanges: stream })),
    ]);
    expect(processes.map((process) => process.kernels.isOrdered)).toEqual([undefined, true]);
    expect(processes[1]?.allRanges?.count).toBe(2);
    const seen: unknown[] = [];
    const opened = new Map<string, RangeInstance>();
    processes[1]?.allRanges?.replay({
      opens: (one, endNs) => {
        opened.set(one.name, one);
        seen.push(["opens", one.name, one.startNs, one.endNs, endNs]);
      },
      closes: (one) => seen.push(["closes", one.name, one.endNs, opened.get(one.name) === one]),
    });
    expect(seen).toEqual([
      ["opens", "step", 1_010, null, 1_060],
      ["opens", "open", 1_070, null, null],
      ["closes", "step", 1_060, true],
    ]);
  });
});

describe("the ranks of files", () => {
  it.each([
    [
      ["a.rank1.nsys", "a.rank0.nsys"],
      [1, 0],
    ],
    [
      ["Rank_00.x", "Rank_01.x"],
      [0, 1],
    ],
    [["rank10000000"], null],
    // Not one number after the other, from 0.
    [["rank0", "rank2"], null],
    [["rank0", "rank0"], null],
    // Other differences than the number.
    [["a.rank0.x", "b.rank1.x"], null],
    [["a.rank0.x", "a.rank1.y"], null],
    [["a.rank0.x", "a.1.x"], null],
    [["a.0.x", "a.1.x"], null],
  ])("%o are %o", (names, expected) => {
    expect(rankNumbers(names)).toEqual(expected);
  });
});
