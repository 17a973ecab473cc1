import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Timeline } from "../../../src/profiler/model/timeline.ts";
import { renderChromeTrace } from "../../../src/profiler/run/chrome-trace.ts";
import { renderSpeedscope } from "../../../src/profiler/run/speedscope.ts";
import { hostileNames } from "../../report/bundles.ts";
import { runs } from "../../runs.ts";
import { type ProcessSketch, timelineOf, twoLibraries, wellNested } from "../analysis/timelines.ts";

interface ChromeEvent {
  readonly ph: string;
  readonly name: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly id?: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

const chrome = (timeline: Timeline): readonly ChromeEvent[] =>
  JSON.parse([...renderChromeTrace(timeline)].join("")).traceEvents;

const speedscope = (timeline: Timeline) =>
  JSON.parse([...renderSpeedscope(timeline, "test")].join(""));

const sketch: ProcessSketch = {
  pid: 7,
  endNs: 9000,
  ranges: [
    { name: "outer", start: 1000, end: 5000 },
    { name: "inner", start: 2000, end: 3500, domain: "lib" },
    { name: "async", start: 1500, end: 6000, kind: "start_end" },
    { name: "open", start: 7000, end: null },
  ],
  kernels: [{ name: "gemm", launch: 2500, ns: 400, device: 1 }],
};

it("a wait for a stream says for which", () => {
  const { processes, ...timeline } = timelineOf([{ pid: 7, waits: [{ call: 10, ns: 5 }] }]);
  const waits = (stream: number | null) =>
    chrome({
      ...timeline,
      processes: processes.map((process) => ({
        ...process,
        synchronizations: (process.synchronizations ?? []).map((wait) => ({ ...wait, stream })),
      })),
    }).flatMap(({ name, args }) => (name.startsWith("wait") ? [args] : []));
  expect(waits(13)).toEqual([{ stream: 13 }]);
  expect(waits(null)).toEqual([undefined]);
});

it("a kernel that a CUDA graph launched says of which graph it was, and which node", () => {
  const { processes, ...timeline } = timelineOf([
    { kernels: ["k", "l"].map((name) => ({ name, launch: 10, ns: 5 })) },
  ]);
  const kernels = processes.flatMap((process) => [...process.kernels]);
  const node = 2n ** 53n + 1n;
  const graphs = kernels.map((kernel, at) =>
    at === 0 ? kernel : { ...kernel, graph: { id: 3, node } },
  );
  const args = chrome({
    ...timeline,
    processes: processes.map((process) => ({ ...process, kernels: graphs })),
  }).flatMap(({ cat, args: of }) => (cat === "kernel" ? [of] : []));
  expect(args).toEqual([
    { process: 100 },
    { process: 100, "graph id": 3, "graph node id": "9007199254740993" },
  ]);
});

describe("ranges of one name in two domains", () => {
  it("are told apart in both formats", () => {
    const timeline = timelineOf([twoLibraries]);
    const [profile] = speedscope(timeline).profiles;
    const names: readonly { name: string }[] = speedscope(timeline).shared.frames;
    const opened: readonly { type: string; frame: number }[] = profile.events;
    expect(opened.flatMap(({ type, frame }) => (type === "O" ? [names[frame]?.name] : []))).toEqual(
      ["A: step", "io: load", "B: step", "io: load"],
    );
    expect(
      chrome(timeline).flatMap((event) =>
        event.ph === "X" && event.pid === 7 ? [`${event.cat}@${event.name}`] : [],
      ),
    ).toEqual(["A@step", "io@load", "B@step", "io@load"]);
  });
});

describe("processes of one number, of two machines", () => {
  const ofA: ProcessSketch = {
    ...sketch,
    ranges: [{ name: "on a", start: 1000, end: 5000 }],
    kernels: [{ name: "k", launch: 2500, ns: 4000, device: 0 }],
  };
  const ofB: ProcessSketch = {
    ...ofA,
    ranges: [{ name: "on b", start: 2000, end: 8000 }],
  };
  const timeline = timelineOf([ofA, ofB]);

  it("have rows of their own in Chrome's format, and so have their devices", () => {
    const events = chrome(timeline);
    const rowOf = (name: string) => events.find((event) => event.name === name)?.pid;
    expect(rowOf("on a")).toBe(7);
    expect(rowOf("on b")).toBe(1 << 22);
    const kernels = events.filter(({ cat, ph }) => cat === "kernel" && ph === "X");
    expect(new Set(kernels.map(({ pid }) => pid)).size).toBe(2);
    expect(kernels.map(({ args }) => args?.["process"])).toEqual([7, 7]);
    const names = events.flatMap(({ name, args }) => (name === "process_name" ? [args] : []));
    expect(names.map((args) => args?.["name"])).toEqual([
      expect.any(String),
      expect.stringMatching(/process 7 \(2\)$/),
      "cuda:0",
      "cuda:0 (2)",
    ]);
  });

  it("share a device's row with others of their machine, and with none of another one", () => {
    const [first, second] = timelineOf([ofA, { ...ofB, pid: 8 }]).processes;
    if (first === undefined || second === undefined) throw new Error("no processes");
    const devicesOf = (machines: readonly [number, number]): unknown[] =>
      chrome({
        ...timeline,
        processes: [
          { ...first, machine: machines[0] },
          { ...second, machine: machines[1] },
        ],
      }).flatMap(({ name, args }) => {
        const shown = String(args?.["name"]);
        return name === "process_name" && shown.startsWith("cuda") ? [shown] : [];
      });
    expect(devicesOf([0, 1])).toEqual(["cuda:0", "cuda:0 (2)"]);
    expect(devicesOf([0, 0])).toEqual(["cuda:0"]);
  });

  it("have profiles of their own in speedscope's", () => {
    const names = speedscope(timeline).profiles.map(({ name }: { name: string }) => name);
    expect(names).toEqual([
      "process 7 thread 1",
      "process 7 (2) thread 1",
      "cuda:0 stream 0, process 7",
      "cuda:0 stream 0, process 7 (2)",
    ]);
  });
});

const anyTimes = fc.record({
  name: fc.constantFrom("a", "b", '"', "c"),
  start: fc.nat(20),
  length: fc.nat(9),
  thread: fc.nat(2),
  domain: fc.constantFrom("", "lib"),
});

function grouped<T>(elements: Iterable<T>, keyOf: (element: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const element of elements) {
    const key = keyOf(element);
    groups.set(key, [...(groups.get(key) ?? []), element]);
  }
  return groups;
}

/** The same with an object for each event, and a text for each profile. */
function wholeProfiles({ processes }: Timeline): string {
  const frames = new Map<string, number>();
  const frameOf = (name: string) => {
    if (!frames.has(name)) frames.set(name, frames.size);
    return frames.get(name);
  };
  type Interval = { readonly name: string; readonly startNs: number; readonly endNs: number };
  const profileOf = ([name, intervals]: readonly [string, readonly Interval[]]) => {
    const events: { type: string; frame: number | undefined; at: number }[] = [];
    const open: { frame: number | undefined; endNs: number }[] = [];
    const closeUntil = (at: number) => {
      for (let top = open.at(-1); top !== undefined && top.endNs <= at; top = open.at(-1)) {
        events.push({ type: "C", frame: top.frame, at: top.endNs });
        open.pop();
      }
    };
    const sorted = [...intervals].sort((a, b) => a.startNs - b.startNs || b.endNs - a.endNs);
    for (const interval of sorted) {
      closeUntil(interval.startNs);
      const frame = frameOf(interval.name);
      const limit = open.at(-1)?.endNs ?? Number.POSITIVE_INFINITY;
      open.push({ frame, endNs: Math.min(interval.endNs, limit) });
      events.push({ type: "O", frame, at: interval.startNs });
    }
    closeUntil(Number.POSITIVE_INFINITY);
    const endValue = Math.max(0, ...sorted.map(({ endNs }) => endNs));
    const [first] = sorted;
    const startValue = first?.startNs ?? 0;
    return { type: "evented", name, unit: "nanoseconds", startValue, endValue, events };
  };
  const tracks = processes.flatMap((process) => [
    ...grouped(process.ranges, ({ threadId }) => `process ${process.pid} thread ${threadId}`),
  ]);
  const threads = tracks.map(
    ([name, ranges]) =>
      [
        name,
        ranges.map((range) => ({
          name: range.domain === "" ? range.name : `${range.domain}: ${range.name}`,
          startNs: range.startNs,
          endNs: range.endNs ?? range.startNs,
        })),
      ] as const,
  );
  const streams = processes.flatMap((process) => [
    ...grouped(
      process.kernels,
      ({ device, stream }) => `cuda:${device} stream ${stream ?? 0}, process ${process.pid}`,
    ),
  ]);
  const profiles = [...threads, ...streams].map((track) => JSON.stringify(profileOf(track)));
  const shared = JSON.stringify({ frames: [...frames.keys()].map((name) => ({ name })) });
  const schema = "https://www.speedscope.app/file-format-schema.json";
  const before = `{"$schema":"${schema}","name":"test","exporter":"hydraconf","profiles":[`;
  const separated = profiles.map((profile, at) => `${at === 0 ? "" : ","}\n${profile}`);
  return `${before}${separated.join("")}\n],"shared":${shared}}\n`;
}

describe("renderChromeTrace", () => {
  const events = chrome(timelineOf([sketch]));

  it("shows ranges of threads as slices in microseconds", () => {
    const slices = events.filter(({ ph, pid }) => ph === "X" && pid === 7);
    expect(slices.map(({ name, ts, dur }) => [name, ts, dur])).toEqual([
      ["outer", 1, 4],
      ["inner", 2, 1.5],
      ["open", 7, 2],
    ]);
    expect(slices.at(-1)?.args).toEqual({ closed: false });
  });

  it("has nothing that ends before it begins, in either form", () => {
    // The clock of a GPU that was brought to another one may be off.
    const timeline = timelineOf([
      {
        kernels: [
          { name: "k", launch: 5000, ns: -3000 },
          { name: "l", launch: 9000, ns: 10 },
        ],
        waits: [{ call: 100, ns: -50 }],
      },
    ]);
    const durations = chrome(timeline).flatMap(({ dur }) => (dur === undefined ? [] : [dur]));
    expect(Math.min(...durations)).toBe(0);
    const [profile] = speedscope(timeline).profiles as { events: { at: number }[] }[];
    const times = profile?.events.map(({ at }) => at) ?? [];
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it("shows start/end ranges as pairs of one id", () => {
    const [begin, end] = events.filter(({ name }) => name === "async");
    expect([begin?.ph, begin?.ts, end?.ph, end?.ts]).toEqual(["b", 1.5, "e", 6]);
    expect(begin?.id).toBe(end?.id);
  });

  it("ends a start/end range on the thread that closed it", () => {
    const timeline = timelineOf([sketch]);
    const elsewhere: Timeline = {
      ...timeline,
      processes: timeline.processes.map((process) => ({
        ...process,
        ranges: process.ranges.map((range) => ({ ...range, endThreadId: 9 })),
      })),
    };
    const [begin, end] = chrome(elsewhere).filter(({ name }) => name === "async");
    expect([begin?.tid, end?.tid]).toEqual([1, 9]);
  });

  it("shows kernels on their device with an arrow from the launch", () => {
    const kernel = events.find(({ name, ph }) => name === "gemm" && ph === "X");
    const device = events.find(({ args }) => args?.["name"] === "cuda:1");
    expect(kernel?.pid).toBe(device?.pid);
    expect(kernel?.dur).toBe(0.4);
    const [from, to] = events.filter(({ name }) => name === "launch");
    expect(from).toMatchObject({ ph: "s", pid: 7, ts: 2.5 });
    expect(to).toMatchObject({ ph: "f", pid: kernel?.pid, ts: kernel?.ts, id: from?.id });
  });

  it("is JSON whatever names hold", () => {
    const names = hostileNames.map((name, at) => ({ name, start: at * 10, end: at * 10 + 9 }));
    const read = chrome(timelineOf([{ pid: 1, ranges: names }]));
    expect(read.filter(({ ph }) => ph === "X").map(({ name }) => name)).toEqual(hostileNames);
  });
});

describe("renderSpeedscope", () => {
  it("has a profile per thread and per stream", () => {
    const { profiles, shared } = speedscope(timelineOf([sketch]));
    expect(profiles.map(({ name }: { name: string }) => name)).toEqual([
      expect.stringMatching(/^process 7 thread \d+$/),
      expect.stringMatching(/^cuda:1 stream \d+, process 7$/),
    ]);
    const names = shared.frames.map(({ name }: { name: string }) => name);
    const shown = profiles[0].events.map(
      ({ type, frame, at }: { type: string; frame: number; at: number }) => [
        type,
        names[frame],
        at,
      ],
    );
    expect(shown).toEqual([
      ["O", "outer", 1000],
      ["O", "lib: inner", 2000],
      ["C", "lib: inner", 3500],
      ["C", "outer", 5000],
      ["O", "open", 7000],
      ["C", "open", 9000],
    ]);
  });

  it("is what one profile at a time would be, whatever the times", () => {
    fc.assert(
      fc.property(fc.array(anyTimes, { maxLength: 12 }), (all) => {
        const ranges = all.map(({ start, length, name, thread, domain }) => {
          return { name, start, end: start + length, thread, domain };
        });
        const kernels = all.map(({ start, length, name, thread }) => {
          return { name, launch: start, ns: length, device: thread % 2, thread };
        });
        const timeline = timelineOf([{ pid: 1, endNs: 99, ranges, kernels }]);
        expect([...renderSpeedscope(timeline, "test")].join("")).toBe(wholeProfiles(timeline));
      }),
      { numRuns: runs(200) },
    );
  });

  it("opens and closes in order and properly nested, whatever overlaps", () => {
    const overlapping = wellNested.map((process) => ({
      ...process,
      kernels: (process.kernels ?? []).map((kernel) => ({
        ...kernel,
        device: 0,
        ns: kernel.ns * 3,
      })),
    }));
    fc.assert(
      fc.property(overlapping, (process) => {
        for (const profile of speedscope(timelineOf([process])).profiles) {
          const open: number[] = [];
          let last = profile.startValue;
          for (const { type, frame, at } of profile.events) {
            expect(at).toBeGreaterThanOrEqual(last);
            expect(at).toBeLessThanOrEqual(profile.endValue);
            last = at;
            if (type === "O") open.push(frame);
            else expect(open.pop()).toBe(frame);
          }
          expect(open).toEqual([]);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
