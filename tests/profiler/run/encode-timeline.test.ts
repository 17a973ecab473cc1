import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHostCalls, type HostCall } from "../../../src/profiler/model/host-calls.ts";
import { encodeTimeline } from "../../../src/profiler/run/encode-timeline.ts";
import { openTimeline, visible } from "../../../src/report/client/timeline-events.ts";
import { type ProcessSketch, timelineOf, wellNested } from "../analysis/timelines.ts";

const opened = (process: ProcessSketch) => {
  const encoded = encodeTimeline(timelineOf([process]));
  const events = openTimeline(encoded, Buffer.from(encoded.bytes, "base64"));
  return { encoded, events };
};

describe("a timeline in a page", () => {
  it("has every range in its lane, and kernels with the thread that launched them", () => {
    const { encoded, events } = opened({
      ranges: [
        { name: "step", start: 0, end: 1000 },
        { name: "inner", start: 10, end: 500 },
        { name: "step", start: 1000, end: 90_000 },
        { name: "other", start: 5, end: 70, thread: 2 },
      ],
      kernels: [{ name: "k", launch: 20, ns: 300 }],
    });
    expect(encoded.rows.map(({ label, kind, lanes }) => [label, kind, lanes])).toEqual([
      ["thread 1", "thread", 2],
      ["thread 2", "thread", 1],
      ["cuda:0", "stream", 1],
    ]);
    const [steps, inner] = events.lanesOf(0);
    expect([...(steps?.starts ?? [])]).toEqual([0, 1000]);
    expect([...(steps?.ends ?? [])]).toEqual([1000, 90_000]);
    expect(encoded.names[inner?.names[0] ?? -1]).toBe("inner");
    const [stream] = events.lanesOf(2);
    expect([stream?.launchRows?.[0], stream?.launches?.[0], stream?.starts[0]]).toEqual([
      0, 20, 1020,
    ]);
  });

  it("has rows of the calls of CUDA and of the system, by thread, the longest where there are many", () => {
    const encodedWith = (calls: readonly HostCall[]) => {
      const timeline = timelineOf([{ ranges: [{ name: "step", start: 0, end: 1000 }] }]);
      const table = createHostCalls();
      for (const call of calls) table.add(call);
      const hostCalls = table.finish();
      const encoded = encodeTimeline({
        ...timeline,
        processes: timeline.processes.map((process) => ({ ...process, hostCalls })),
      });
      return { encoded, events: openTimeline(encoded, Buffer.from(encoded.bytes, "base64")) };
    };
    const call = (
      api: HostCall["api"],
      name: string,
      startNs: number,
      ns: number,
      threadId = 1,
    ) => ({
      ...{ api, name, threadId, startNs },
      endNs: startNs + ns,
    });
    const { encoded, events } = encodedWith([
      call("cuda", "cudaMalloc", 10, 300),
      call("os", "ioctl", 20, 100),
      call("os", "poll", 5, 900, 2),
      // A call that calls another.
      call("os", "futex", 40, 10),
    ]);
    expect(encoded.rows.map(({ label, kind, lanes }) => [label, kind, lanes])).toEqual([
      ["thread 1", "thread", 1],
      ["CUDA API, thread 1", "calls", 1],
      ["OS runtime, thread 2", "calls", 1],
      ["OS runtime, thread 1", "calls", 2],
    ]);
    const [cuda] = events.lanesOf(1);
    expect([cuda?.starts[0], cuda?.ends[0]]).toEqual([10, 310]);
    expect(encoded.names[cuda?.names[0] ?? -1]).toBe("cudaMalloc");
    expect(encoded.dropped).toBe(0);

    const many = Array.from({ length: 20_010 }, (_, at) =>
      call("cuda", "a", at * 10, at < 10 ? 1 : 5),
    );
    const { encoded: large, events: drawn } = encodedWith(many);
    expect([large.rows[1]?.events, large.dropped]).toEqual([20_000, 10]);
    expect(drawn.lanesOf(1)[0]?.starts[0]).toBe(100);
    const threads = Array.from({ length: 40 }, (_, at) => call("os", "poll", 1, at + 1, at + 1));
    const { encoded: wide } = encodedWith(threads);
    expect([wide.rows.length, wide.rows[1]?.label, wide.dropped]).toEqual([
      17,
      "OS runtime, thread 40",
      24,
    ]);
  });

  it("has threads that ran one after another in one row where there are many", () => {
    const short = Array.from({ length: 2000 }, (_, at) => [
      { name: "task", start: 100 + at * 10, end: 108 + at * 10, thread: 2 + at },
      { name: "part", start: 102 + at * 10, end: 105 + at * 10, thread: 2 + at },
    ]).flat();
    const { encoded, events } = opened({
      ranges: [{ name: "main", start: 0, end: 30_000 }, ...short],
      kernels: [
        { name: "k", launch: 203, ns: 3, thread: 12 },
        // Thread 500 still launches when thread 501 begins, so that they cannot share a row.
        { name: "late", launch: 5095, ns: 3, thread: 500 },
      ],
    });
    const rows = encoded.rows.filter(({ kind }) => kind === "thread");
    expect(rows.map(({ label, events: count }) => [label, count])).toEqual([
      ["thread 1", 1],
      ["thread 2 and 1,998 others, one after another", 3998],
      ["thread 501", 2],
    ]);
    const [tasks, parts] = events.lanesOf(1);
    expect([...(tasks?.starts ?? [])].slice(0, 3)).toEqual([100, 110, 120]);
    expect([...(parts?.ends ?? [])].slice(0, 3)).toEqual([105, 115, 125]);
    expect([...(events.lanesOf(3)[0]?.launchRows ?? [])]).toEqual([1, 1]);
  });

  it("has a row for each thread where there are few, and for each name where there are many", () => {
    const threads = (count: number): ProcessSketch => ({
      ranges: Array.from({ length: count }, (_, at) => ({
        name: "task",
        start: at * 10,
        end: at * 10 + 8,
        thread: 1 + at,
      })),
    });
    expect(opened(threads(16)).encoded.rows).toHaveLength(16);
    const [process] = timelineOf([threads(40)]).processes;
    if (process === undefined) throw new Error("no process");
    const threadNames = new Map([
      [1, "main"],
      ...Array.from({ length: 19 }, (_, at) => [2 + at, "loader"] as const),
    ]);
    const { rows } = encodeTimeline({
      ...timelineOf([]),
      processes: [{ ...process, threadNames }],
    });
    expect(rows.map(({ label }) => label)).toEqual([
      "main",
      "loader (19 threads, one after another)",
      "thread 21 and 19 others, one after another",
    ]);
  });

  it("has the rows of each rank together, in their order, by the number of the rank", () => {
    const rank = (number: number) => ({ rank: number, size: 2, localRank: null, host: "h" });
    const of = (pid: number, name: string) =>
      timelineOf([{ pid, ranges: [{ name, start: 0, end: 10 }] }]).processes;
    const processes = [
      ...of(9, "a").map((process) => ({ ...process, rank: rank(1) })),
      ...of(7, "b"),
      ...of(8, "c").map((process) => ({ ...process, rank: rank(0) })),
    ];
    const { rows } = encodeTimeline({ ...timelineOf([]), processes });
    expect(rows.map(({ process }) => process)).toEqual(["rank 0", "rank 1", "process 7"]);
  });

  it("lasts as long as the run of the report: without the launcher of several ranks", () => {
    const of = (pid: number) => timelineOf([{ pid, ranges: [{ name: "a", start: 50, end: 80 }] }]);
    const span = (pid: number) => ({ span: { pid, startNs: -100, endNs: 900 } });
    const [{ startNs = 0, endNs = 0 } = {}] = of(1).processes;
    const ranks = { ...of(1), processes: [...of(1).processes, ...of(2).processes] };
    expect(encodeTimeline({ ...ranks, ...span(7) }).endNs).toBe(endNs - startNs);
    expect(encodeTimeline({ ...ranks, ...span(1) }).endNs).toBe(1000);
    // The only process of a shell that started it.
    expect(encodeTimeline({ ...of(1), ...span(7) }).endNs).toBe(1000);
  });

  it("has counters as steps between their least and their largest value", () => {
    const [process] = timelineOf([{ ranges: [{ name: "step", start: 100, end: 1000 }] }]).processes;
    if (process === undefined) throw new Error("no process");
    const counter = {
      domain: "",
      name: "depth",
      unit: "item",
      threadId: null,
      holds: false,
      // The first is older than the recording.
      timesNs: Float64Array.of(-50, 200, 600),
      values: Float64Array.of(10, 30, 20),
    };
    const encoded = encodeTimeline({
      ...timelineOf([]),
      processes: [{ ...process, startNs: 0, endNs: 1000, counters: [counter] }],
    });
    const events = openTimeline(encoded, Buffer.from(encoded.bytes, "base64"));
    const row = encoded.rows.findIndex(({ kind }) => kind === "counter");
    expect(encoded.rows[row]).toMatchObject({
      label: "depth",
      counter: { min: 10, max: 30, unit: "item" },
    });
    const [lane] = events.lanesOf(row);
    expect([...(lane?.starts ?? [])]).toEqual([0, 200, 600]);
    expect([...(lane?.ends ?? [])]).toEqual([200, 600, 1000]);
    expect([...(lane?.names ?? [])]).toEqual([0, 1000, 500]);
    // Drawn as one where they share a pixel, and all of them are known then.
    const drawn = lane === undefined ? [] : [...visible(lane, 0, 1e6, 1e6)];
    expect(drawn.map(({ event, next }) => [event, next])).toEqual([[0, 3]]);
  });

  it("keeps all ranges of threads, whatever nests", () => {
    fc.assert(
      fc.property(wellNested, (process) => {
        const { encoded, events } = opened(process);
        const found = encoded.rows.flatMap(({ kind }, row) =>
          kind === "thread"
            ? events
                .lanesOf(row)
                .flatMap((lane) =>
                  [...lane.starts].map((start, at) => [
                    encoded.names[lane.names[at] ?? -1],
                    start,
                    lane.ends[at],
                  ]),
                )
            : [],
        );
        const wanted = (process.ranges ?? []).map(({ name, start, end }) => [name, start, end]);
        expect(found.map(String).sort()).toEqual(wanted.map(String).sort());
      }),
    );
  });

  it("is folded to what pixels can show", () => {
    const ranges = Array.from({ length: 100_000 }, (_, at) => ({
      name: "tiny",
      start: at * 10,
      end: at * 10 + 5,
    }));
    const { events } = opened({ ranges });
    const [lane] = events.lanesOf(0);
    if (lane === undefined) throw new Error("no lane");
    const all = [...visible(lane, 0, 1_000_000, 1000)];
    expect(all.length).toBeLessThanOrEqual(1001);
    expect(all.every(({ folded }) => folded)).toBe(true);
    expect([...visible(lane, 500_000, 500_100, 0.1)]).toHaveLength(11);
  });

  it("draws a long range under its own name, also where a short one begins in the same pixel", () => {
    const { encoded, events } = opened({
      ranges: [
        { name: "to", start: 0, end: 10 },
        { name: "view", start: 20, end: 30 },
        { name: "item", start: 40, end: 900_000 },
        { name: "to", start: 900_010, end: 900_020 },
      ],
    });
    const [lane] = events.lanesOf(0);
    if (lane === undefined) throw new Error("no lane");
    const drawn = [...visible(lane, 0, 1_000_000, 1000)].map(({ event, folded, endNs }) => [
      encoded.names[lane.names[event] ?? -1],
      folded,
      endNs,
    ]);
    expect(drawn).toEqual([
      ["to", true, 30],
      ["item", false, 900_000],
      ["to", false, 900_020],
    ]);
  });
});
