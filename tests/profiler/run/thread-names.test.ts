import { expect, it, vi } from "vitest";
import type { Timeline } from "../../../src/profiler/model/timeline.ts";
import { renderChromeTrace } from "../../../src/profiler/run/chrome-trace.ts";
import { renderSpeedscope } from "../../../src/profiler/run/speedscope.ts";
import { hostileNames } from "../../report/bundles.ts";
import { type RangeSketch, timelineOf } from "../analysis/timelines.ts";

interface ThreadEvent {
  readonly name: string;
  readonly tid: number;
  readonly args?: { readonly name?: string };
}

/** What both formats call the threads of a process. */
function threadsIn(timeline: Timeline) {
  const parsed = (pieces: Iterable<string>) => JSON.parse([...pieces].join(""));
  const events: readonly ThreadEvent[] = parsed(renderChromeTrace(timeline)).traceEvents;
  const profiles: readonly { readonly name: string }[] = parsed(
    renderSpeedscope(timeline, "test"),
  ).profiles;
  return {
    chrome: events.flatMap(({ name, tid, args }) =>
      name === "thread_name" ? [[tid, args?.name]] : [],
    ),
    speedscope: profiles.map(({ name }) => name),
  };
}

const onThread = (thread: number): RangeSketch => ({ name: "work", start: 10, end: 20, thread });

function named(names: ReadonlyMap<number, string>, ranges: readonly RangeSketch[]): Timeline {
  const { processes, ...timeline } = timelineOf([{ pid: 7, ranges }]);
  return {
    ...timeline,
    processes: processes.map((process) => ({ ...process, threadNames: names })),
  };
}

it("threads have the names that the program gave them, beside their numbers", () => {
  expect(threadsIn(named(new Map([[1, "data loader"]]), [1, 2].map(onThread)))).toEqual({
    chrome: [[1, "data loader"]],
    speedscope: ["process 7 thread 1 (data loader)", "process 7 thread 2"],
  });
});

it("threads of one name are told apart", () => {
  const names = new Map([1, 2].map((thread) => [thread, "worker"]));
  expect(threadsIn(named(names, [1, 2].map(onThread)))).toEqual({
    chrome: [
      [1, "worker"],
      [2, "worker"],
    ],
    speedscope: ["process 7 thread 1 (worker)", "process 7 thread 2 (worker)"],
  });
});

it.each(hostileNames)("a thread may have the name %j", (name) => {
  expect(threadsIn(named(new Map([[1, name]]), [onThread(1)]))).toEqual({
    chrome: name === "" ? [] : [[1, name]],
    speedscope: [name === "" ? "process 7 thread 1" : `process 7 thread 1 (${name})`],
  });
});

it("names may be long: one is read for its thread, not for each range", () => {
  const names = new Map([[1, "x".repeat(1 << 20)]]);
  const asked = vi.spyOn(names, "get");
  expect(threadsIn(named(names, [1, 1, 1].map(onThread))).speedscope).toHaveLength(1);
  expect(asked).toHaveBeenCalledTimes(1);
});
