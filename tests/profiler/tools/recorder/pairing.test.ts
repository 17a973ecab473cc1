import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import type { PayloadNumber } from "../../../../src/profiler/model/payload.ts";
import type { ThreadCounts } from "../../../../src/profiler/model/timeline.ts";
import {
  createNotes,
  type NvtxEvent,
  type PopEvent,
  type PushEvent,
  type RangeId,
} from "../../../../src/profiler/tools/recorder/events.ts";
import {
  createEndings,
  createPairing,
  createStreamedPairing,
  type FirstEnds,
} from "../../../../src/profiler/tools/recorder/pairing.ts";

const thread = { stream: 0, threadId: 7, timeNs: 5 };
const push = (name: string): PushEvent => ({
  kind: "push",
  ...thread,
  domain: "",
  name,
  category: null,
  color: null,
  payload: null,
  cpuNs: null,
  counts: null,
  instructions: null,
});
const unused = { cpuNs: null, counts: null, instructions: null };
const pop: PopEvent = { kind: "pop", ...thread, domain: "", ...unused };

describe("createPairing", () => {
  it("keeps the nesting of ranges that open and close within one tick of the clock", () => {
    const pairing = createPairing(createNotes());
    for (const event of [push("outer"), push("inner"), pop, pop, push("after"), pop])
      pairing.add(event);
    const { ranges, marks } = pairing.finish();
    const model = buildRegionModel({
      collector: "recorder",
      clock: "CLOCK_MONOTONIC",
      originNs: 0n,
      notes: [],
      processes: [
        {
          pid: 1,
          parentPid: null,
          executable: "program",
          startNs: 0,
          endNs: 5,
          finished: true,
          ranges,
          marks,
          kernels: [],
          notes: [],
        },
      ],
    });
    expect(model.scopes[0]?.regions.map(({ path }) => path.join(" > "))).toEqual([
      "outer",
      "outer > inner",
      "after",
      "(outside)",
    ]);
  });

  it("takes processor time and counts from the thread that opened a range", () => {
    const used = (cpuNs: number, faults: number) => ({
      cpuNs,
      counts: [faults, 0, 0, 0] as const,
      instructions: null,
    });
    const start: NvtxEvent = { ...push("handed over"), ...used(5, 0), kind: "start", rangeId: 1 };
    const elsewhere: NvtxEvent = {
      kind: "end",
      stream: 1,
      threadId: 8,
      timeNs: 5,
      rangeId: 1,
      ...used(1, 0),
    };
    const pairing = createPairing(createNotes());
    const events: readonly NvtxEvent[] = [
      { ...push("open"), ...used(10, 2 ** 32 - 2) },
      { ...push("closed"), ...used(20, 2 ** 32 - 1) },
      start,
      elsewhere,
      { ...pop, ...used(50, 3) },
      { ...push("last"), ...used(70, 4) },
    ];
    for (const event of events) pairing.add(event);
    const { ranges } = pairing.finish();
    expect(ranges.map(({ name, cpuNs, counts }) => [name, cpuNs, counts])).toEqual([
      // Of a range that never closed, what its thread had used at its last event.
      ["open", 60, [6, 0, 0, 0]],
      ["closed", 30, [4, 0, 0, 0]],
      ["handed over", null, null],
      ["last", 0, [0, 0, 0, 0]],
    ]);
  });
});

/** Events at times of their own: `stream` is a thread. */
const at = (timeNs: number, stream = 0) => ({ timeNs, stream, threadId: 7 + stream });
const pushAt = (name: string, timeNs: number, domain = ""): NvtxEvent => ({
  ...push(name),
  ...at(timeNs),
  domain,
});
const popAt = (timeNs: number, more: Partial<PopEvent> = {}): NvtxEvent => ({
  ...pop,
  ...at(timeNs),
  ...more,
});
const startAt = (rangeId: RangeId, timeNs: number, stream = 0): NvtxEvent => ({
  ...push(`range ${rangeId}`),
  ...at(timeNs, stream),
  kind: "start",
  rangeId,
});
const endAt = (rangeId: RangeId, timeNs: number, stream = 0): NvtxEvent => ({
  kind: "end",
  ...at(timeNs, stream),
  rangeId,
  ...unused,
});
const deferredAt = (name: string, timeNs: number, endNs: number): NvtxEvent => ({
  kind: "range",
  rangeKind: "push_pop",
  threadId: 9,
  domain: "d",
  name,
  timeNs,
  endNs,
  category: 1,
  color: null,
  payload: null,
});

function paired(events: readonly NvtxEvent[], left = Number.POSITIVE_INFINITY, ends?: FirstEnds) {
  const notes = createNotes();
  const pairing = createPairing(notes, { left }, ends);
  for (const event of events) pairing.add(event);
  const found = pairing.finish();
  const spans = found.ranges.map(({ name, startNs, endNs }) => [name, startNs, endNs]);
  return { ...found, spans, notes: notes.list() };
}

describe("several ends of a range", () => {
  it("close it at the first one, in whatever order they are read", () => {
    const ends = [endAt(1, 20, 1), endAt(1, 10, 2)];
    for (const first of [ends, [...ends].reverse()]) {
      const { spans, notes } = paired([...first, startAt(1, 5)]);
      expect(spans).toEqual([["range 1", 5, 10]]);
      expect(notes).toEqual(["ranges ended more than once: 1"]);
    }
  });

  it("are read again where an earlier one came after a later one", () => {
    const events = [
      startAt(1, 5),
      endAt(1, 20, 1),
      endAt(1, 12, 2),
      endAt(1, 10, 3),
      endAt(1, 11, 4),
    ];
    const { missedEnds, spans } = paired(events);
    expect(spans).toEqual([["range 1", 5, 20]]);
    expect([...missedEnds]).toEqual([[1, 10]]);
    expect(paired(events, undefined, missedEnds).spans).toEqual([["range 1", 5, 10]]);
    expect(paired([startAt(1, 5), endAt(1, 20, 1), endAt(1, 30, 2)]).missedEnds.size).toBe(0);
  });

  it("of a range with an id beyond those that are kept in a table are ends of none", () => {
    for (const id of [2 ** 28, 2n ** 60n]) {
      const { notes } = paired([startAt(id, 5), endAt(id, 20), endAt(id, 10)]);
      expect(notes).toEqual(["ends of ranges that were never started: 1"]);
    }
    const { notes } = paired([
      startAt(2 ** 28 - 1, 5),
      endAt(2 ** 28 - 1, 20),
      endAt(2 ** 28 - 1, 10),
    ]);
    expect(notes).toEqual(["ranges ended more than once: 1"]);
  });
});

describe("what is nested", () => {
  const nested = (...events: readonly NvtxEvent[]) => paired(events).isNested;

  it("is what each thread closes in the reverse order of opening", () => {
    expect(nested(pushAt("a", 1), pushAt("b", 2, "d"), popAt(3, { domain: "d" }), popAt(4))).toBe(
      true,
    );
    expect(nested(pushAt("a", 1), pushAt("b", 2, "d"), popAt(3), popAt(4, { domain: "d" }))).toBe(
      false,
    );
    expect(nested(pushAt("a", 1))).toBe(true);
  });

  it("is not what starts and ends, closes nothing, gets its name late, or is reported late", () => {
    expect(nested(startAt(1, 1), endAt(1, 2))).toBe(false);
    expect(nested(popAt(1))).toBe(false);
    expect(nested(pushAt("a", 1), popAt(2, { rename: "b" }))).toBe(false);
    expect(nested(deferredAt("a", 1, 2))).toBe(false);
  });

  it("begins anew where another thread writes the stream", () => {
    const thread: NvtxEvent = { kind: "thread", ...at(3) };
    const { spans, isNested } = paired([pushAt("a", 1, "d"), thread, pushAt("b", 4), popAt(5)]);
    expect(spans).toEqual([
      ["a", 1, null],
      ["b", 4, 5],
    ]);
    expect(isNested).toBe(true);
  });
});

describe("ranges that are reported late", () => {
  it("stand where they started, with ids in that order", () => {
    const events = [pushAt("b", 20), popAt(30), deferredAt("a", 10, 40), deferredAt("c", 25, 27)];
    const { ranges, spans, count, lastNs, deferred } = paired(events);
    expect(spans).toEqual([
      ["a", 10, 40],
      ["b", 20, 30],
      ["c", 25, 27],
    ]);
    expect(ranges.map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(ranges[0]).toMatchObject({ kind: "push_pop", threadId: 9, endThreadId: 9, domain: "d" });
    expect({ count, lastNs, deferred }).toEqual({ count: 4 - 1, lastNs: 30, deferred: [] });
  });

  it("are told apart where not all ranges are kept", () => {
    const events = [pushAt("x", 20), popAt(21), pushAt("y", 22), popAt(23)];
    const late = [deferredAt("c", 25, 27), deferredAt("a", 10, 40)];
    const { deferred, spans, count } = paired([...events, ...late], 1);
    expect(deferred.map(({ name }) => name)).toEqual(["a", "c"]);
    expect(spans.map(([name]) => name)).toEqual(["a", "x", "c"]);
    expect(count).toBe(4);
    expect(paired(events, 0).ranges).toEqual([]);
  });
});

describe("what is no range", () => {
  it("is in order of time: marks, and samples of each counter", () => {
    const value = (timeNs: number, number: number, name = "n", threadId: number | null = null) =>
      ({
        kind: "sample",
        domain: "d",
        name,
        unit: "u",
        threadId,
        holds: true,
        timeNs,
        value: number,
      }) as const;
    const mark = (timeNs: number): NvtxEvent => {
      const { cpuNs: _, counts: __, ...rest } = push(`at ${timeNs}`);
      return { ...rest, ...at(timeNs), kind: "mark" };
    };
    const { marks, counters, lastNs } = paired([
      ...[value(30, 3), value(10, 1), value(20, 2), value(5, 9, "n", 7), value(6, 8, "other")],
      ...[mark(50), mark(40)],
    ]);
    expect(marks.map(({ name }) => name)).toEqual(["at 40", "at 50"]);
    expect(
      counters.map(({ name, threadId, timesNs, values }) => [
        name,
        threadId,
        [...timesNs],
        [...values],
      ]),
    ).toEqual([
      ["n", null, [10, 20, 30], [1, 2, 3]],
      ["n", 7, [5], [9]],
      ["other", null, [6], [8]],
    ]);
    expect(counters[0]).toMatchObject({ domain: "d", unit: "u", holds: true });
    expect(lastNs).toBe(50);
  });
});

describe("names of threads and categories", () => {
  it("are the last given, and have no time", () => {
    const named = (name: string): readonly NvtxEvent[] => [
      { kind: "thread_name", threadId: 7, name },
      { kind: "category_name", domain: "d", category: 1, name },
    ];
    const { threadNames, categoryNames, lastNs } = paired([
      pushAt("a", 3),
      ...named("first"),
      ...named("last"),
    ]);
    expect([...threadNames]).toEqual([[7, "last"]]);
    expect(categoryNames).toEqual([{ domain: "d", category: 1, name: "last" }]);
    expect(lastNs).toBe(3);
    expect(paired(named("alone")).lastNs).toBeNull();
  });
});

describe("what a closing adds", () => {
  const number = (name: string): PayloadNumber => ({
    field: { name, unit: "", kind: "amount" },
    value: 1,
  });

  it("is a name, and numbers after those of the opening", () => {
    const values = (...names: readonly string[]) => ({ values: names.map(number) });
    const named = (opening: object, closing: object) =>
      paired([{ ...push("a"), ...opening }, popAt(6, closing)]).ranges[0];
    expect(named({}, { rename: "b" })?.name).toBe("b");
    expect(named({}, {})?.name).toBe("a");
    const names = (opening: object, closing: object) =>
      named(opening, closing)?.values?.map(({ field }) => field.name);
    expect(names(values("x"), values("y"))).toEqual(["x", "y"]);
    expect(names({}, values("y"))).toEqual(["y"]);
    expect(names(values("x"), {})).toEqual(["x"]);
  });

  it("is no processor time and no counts where one of the two has none", () => {
    const used = (opening: number | null, closing: number | null) =>
      paired([{ ...push("a"), cpuNs: opening } as NvtxEvent, popAt(6, { cpuNs: closing })])
        .ranges[0]?.cpuNs;
    expect([used(3, 9), used(9, 3), used(null, 9), used(3, null)]).toEqual([6, 0, null, null]);
    const counted = (opening: ThreadCounts | null, closing: ThreadCounts | null) =>
      paired([{ ...push("a"), counts: opening } as NvtxEvent, popAt(6, { counts: closing })])
        .ranges[0]?.counts;
    const [few, more] = [[1, 2, 3, 4] as const, [2, 4, 6, 8] as const];
    expect([counted(few, more), counted(null, more), counted(few, null)]).toEqual([
      few,
      null,
      null,
    ]);
  });
});

describe("the streamed pairing", () => {
  const events: readonly NvtxEvent[] = [
    pushAt("outer", 1),
    pushAt("inner", 2),
    popAt(3, { rename: "renamed" }),
    startAt(1, 4, 1),
    endAt(1, 6),
    pushAt("open", 7),
  ];
  const streamed = (endings: Parameters<typeof createStreamedPairing>[1]) => {
    const seen: unknown[] = [];
    const pairing = createStreamedPairing(
      {
        opens: ({ name }, endNs) => seen.push(["opens", name, endNs]),
        closes: ({ name, endNs }) => seen.push(["closes", name, endNs]),
      },
      endings,
    );
    for (const event of events) pairing.add(event);
    pairing.finish();
    return seen;
  };

  it("knows when each range will end, and its last name, from an earlier reading", () => {
    const endings = createEndings(new Map());
    for (const event of events) endings.add(event);
    expect([0, 1, 2].map((place) => endings.endNs(0, place))).toEqual([null, 3, null]);
    expect([endings.endNs(1, 0), endings.endNs(1, 1), endings.endNs(5, 0)]).toEqual([
      6,
      null,
      null,
    ]);
    expect([endings.rename(0, 0), endings.rename(0, 1), endings.rename(5, 0)]).toEqual([
      undefined,
      "renamed",
      undefined,
    ]);
    const never = Number.POSITIVE_INFINITY;
    expect(streamed(endings)).toEqual([
      ["opens", "outer", never],
      ["opens", "renamed", 3],
      ["closes", "renamed", 3],
      ["opens", "range 1", 6],
      ["closes", "range 1", 6],
      ["opens", "open", never],
    ]);
  });

  it("needs none where threads close in the reverse order of opening", () => {
    expect(streamed(null).slice(0, 3)).toEqual([
      ["opens", "outer", null],
      ["opens", "inner", null],
      ["closes", "renamed", 3],
    ]);
  });
});
