import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { counterBetween } from "../../../src/profiler/analysis/program-numbers.ts";
import { type PayloadNumber, payloadField } from "../../../src/profiler/model/payload.ts";
import type {
  CounterSeries,
  ProcessTimeline,
  RangeInstance,
  Timeline,
} from "../../../src/profiler/model/timeline.ts";
import { createProgramClocks } from "../../../src/profiler/tools/recorder/clocks.ts";
import { processOf, type RangeSketch, timelineOf } from "./timelines.ts";

const BYTES = payloadField("bytes");

interface Sketch extends RangeSketch {
  readonly bytes?: readonly number[];
}

function regionsOf(ranges: readonly Sketch[], counters?: readonly CounterSeries[]) {
  const process = processOf({ ranges });
  const withValues: ProcessTimeline = {
    ...process,
    ranges: process.ranges.map((range, at) => {
      const bytes = ranges[at]?.bytes;
      return bytes === undefined
        ? range
        : { ...range, values: bytes.map((value) => ({ field: BYTES, value })) };
    }),
    ...(counters !== undefined && { counters }),
  };
  const timeline: Timeline = {
    collector: "recorder",
    clock: "CLOCK_MONOTONIC",
    originNs: 0n,
    processes: [withValues],
    notes: [],
  };
  const [scope] = buildRegionModel(timeline).scopes;
  return new Map(scope?.regions.map((region) => [region.path.join(" / "), region]));
}

describe("plain payloads", () => {
  test("have a sum, a mean and a rate by the time of the ranges that have one", () => {
    const regions = regionsOf([
      { name: "step", start: 0, end: 1e9, payload: 100 },
      { name: "step", start: 1e9, end: 2e9, payload: 300 },
      { name: "step", start: 2e9, end: 4e9 },
      { name: "big", start: 5e9, end: 6e9, payload: 2n ** 60n },
      { name: "odd", start: 7e9, end: 8e9, payload: Number.NaN },
      { name: "both", start: 9e9, end: 10e9, payload: 7, bytes: [10] },
    ]);
    expect(regions.get("step")?.payloads).toEqual([
      {
        name: "payload",
        unit: "",
        count: 2,
        sum: 400,
        mean: 200,
        min: 100,
        max: 300,
        per_second: 200,
      },
    ]);
    expect(regions.get("big")?.payloads).toMatchObject([{ sum: 2 ** 60 }]);
    expect(regions.get("odd")).not.toHaveProperty("payloads");
    expect(regions.get("both")?.payloads?.map(({ name, sum }) => [name, sum])).toEqual([
      ["bytes", 10],
      ["payload", 7],
    ]);
  });

  test("are added up exactly, whatever the ranges are", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1, maxLength: 30 }), (payloads) => {
        const ranges = payloads.map((payload, at) => ({
          ...{ name: "step", start: 10 * at, end: 10 * at + 5, payload },
        }));
        const sum = payloads.reduce((total, value) => total + value, 0);
        expect(regionsOf(ranges).get("step")?.payloads).toEqual([
          {
            ...{ name: "payload", unit: "", count: payloads.length, sum },
            mean: expect.closeTo(sum / payloads.length, 6),
            ...{ min: Math.min(...payloads), max: Math.max(...payloads) },
            per_second: expect.closeTo((sum / (5 * payloads.length)) * 1e9, 0),
          },
        ]);
      }),
    );
  });
});

describe("categories", () => {
  test("are the program's names, each once, by domain and process; 0 and nameless ones are none", () => {
    const names = (domain: string) => [
      { domain, category: 0, name: "none" },
      { domain, category: 1, name: `io${domain}` },
      { domain, category: 2, name: "compute" },
    ];
    const range = (name: string, at: number, category: number, domain = "") => ({
      ...{ name, start: at, end: at + 1, category, domain },
    });
    const [scope] = buildRegionModel({
      ...timelineOf([
        {
          pid: 1,
          categoryNames: [...names(""), ...names("x")],
          ranges: [
            range("a", 0, 1),
            range("a", 1, 2),
            range("a", 2, 1),
            range("b", 3, 1, "x"),
            range("c", 4, 9),
            range("d", 5, 0),
          ],
        },
        {
          pid: 2,
          categoryNames: [{ domain: "", category: 1, name: "network" }],
          ranges: [range("a", 0, 1)],
        },
      ]),
    }).scopes;
    const of = (scope?.regions ?? []).map(({ path, categories }) => [path.join(), categories]);
    expect(Object.fromEntries(of)).toMatchObject({
      a: ["compute", "io", "network"],
      b: ["iox"],
      c: undefined,
      d: undefined,
    });
  });
});

const series = (
  points: readonly (readonly [number, number])[],
  more: Partial<CounterSeries> = {},
): CounterSeries => ({
  domain: "",
  name: "depth",
  unit: "",
  threadId: null,
  holds: false,
  timesNs: Float64Array.from(points, ([time]) => time),
  values: Float64Array.from(points, ([, value]) => value),
  ...more,
});

describe("numbers of payloads", () => {
  test("are those of a region's own ranges; rates are of the ranges that have them, recursion once", () => {
    const regions = regionsOf([
      { name: "step", start: 0, end: 1000 },
      { name: "send", start: 100, end: 200, bytes: [10] },
      { name: "send", start: 300, end: 500, bytes: [20, 30] },
      { name: "send", start: 600, end: 900 },
    ]);
    expect(regions.get("step")?.payloads).toBeUndefined();
    expect(regions.get("step / send")?.payloads).toEqual([
      {
        name: "bytes",
        unit: "byte",
        count: 3,
        sum: 60,
        mean: 20,
        min: 10,
        max: 30,
        per_second: (60 / 300) * 1e9,
      },
    ]);
  });

  test("without a duration have no rate", () => {
    const [only] =
      regionsOf([{ name: "now", start: 5, end: 5, bytes: [1] }]).get("now")?.payloads ?? [];
    expect(only).toEqual({
      name: "bytes",
      unit: "byte",
      count: 1,
      sum: 1,
      mean: 1,
      min: 1,
      max: 1,
    });
  });

  test("add up to what was given, whatever ranges carry them", () => {
    const values = fc.array(fc.integer({ min: 0, max: 1e9 }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 20 }), (given) => {
        const ranges = given.map(
          (bytes, at): Sketch => ({ name: `r${at % 3}`, start: at * 10, end: at * 10 + 5, bytes }),
        );
        const all = [...regionsOf(ranges).values()].flatMap(({ payloads = [] }) => payloads);
        const sum = (of: (one: (typeof all)[number]) => number) =>
          all.reduce((total, one) => total + of(one), 0);
        expect(sum((one) => one.sum ?? 0)).toBe(given.flat().reduce((a, b) => a + b, 0));
        expect(sum(({ count }) => count)).toBe(given.flat().length);
        for (const { min, mean, max } of all) expect(min <= mean && mean <= max).toBe(true);
      }),
    );
  });
});

describe("counters", () => {
  const ranges = [
    { name: "outer", start: 100, end: 200 },
    { name: "inner", start: 120, end: 140 },
  ];
  const points = [
    [50, 9],
    [110, 1],
    [130, 3],
    [140, 5],
    [250, 7],
  ] as const;

  test("are what was sampled while the range was open, ends included", () => {
    const regions = regionsOf(ranges, [series(points)]);
    expect(regions.get("outer")?.counters).toEqual([
      { name: "depth", domain: "", unit: "", samples: 3, min: 1, mean: 3, max: 5 },
    ]);
    expect(regions.get("outer / inner")?.counters?.[0]).toMatchObject({ samples: 2, mean: 4 });
  });

  test("that hold count from before, weighted by time", () => {
    const [outer] =
      regionsOf(ranges, [series(points, { holds: true })]).get("outer")?.counters ?? [];
    // 9 for 10 ns, 1 for 20, 3 for 10, 5 for 60.
    expect(outer).toMatchObject({ samples: 4, min: 1, max: 9, mean: (90 + 20 + 30 + 300) / 100 });
  });

  test("that hold until an end count for the time that they overlap, and in gaps not at all", () => {
    const samples = series(
      [
        [50, 9],
        [90, 7],
        [110, 1],
        [150, 4],
        [200, 8],
      ],
      { holds: true, endsNs: Float64Array.of(90, 100, 130, 160, 240) },
    );
    const regions = regionsOf(ranges, [samples]);
    // 1 for 20 ns and 4 for 10; 7 ends as the range begins, and 8 begins as it ends.
    expect(regions.get("outer")?.counters).toEqual([
      { name: "depth", domain: "", unit: "", samples: 2, min: 1, max: 4, mean: (20 + 40) / 30 },
    ]);
    expect(regions.get("outer / inner")?.counters?.[0]).toMatchObject({ samples: 1, mean: 1 });
    const between = regionsOf([{ name: "gap", start: 162, end: 190 }], [samples]);
    expect(between.get("gap")?.counters).toBeUndefined();
  });

  test("whatever the ranges and samples, the mean is that of the overlap", () => {
    const spans = fc
      .uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 2, maxLength: 16 })
      .map((times) => times.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(
        spans,
        fc.nat({ max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        (times, from, long) => {
          const samples = times.flatMap((start, at) => {
            const end = times[at + 1];
            return end === undefined || at % 3 === 2 ? [] : [{ start, end, value: at + 1 }];
          });
          const own = series(
            samples.map(({ start, value }) => [start, value] as const),
            { holds: true, endsNs: Float64Array.from(samples, ({ end }) => end) },
          );
          const overlapping = samples.flatMap(({ start, end, value }) => {
            const overlap = Math.min(end, from + long) - Math.max(start, from);
            return overlap > 0 ? [{ overlap, value }] : [];
          });
          const [found] =
            regionsOf([{ name: "r", start: from, end: from + long }], [own]).get("r")?.counters ??
            [];
          expect(found?.samples ?? 0).toBe(overlapping.length);
          if (found === undefined) return;
          const weight = overlapping.reduce((sum, { overlap }) => sum + overlap, 0);
          const sum = overlapping.reduce((all, { overlap, value }) => all + overlap * value, 0);
          expect(found.mean).toBeCloseTo(sum / weight, 9);
        },
      ),
    );
  });

  test("of a thread are of the ranges of that thread; without a sample there are none", () => {
    const other = regionsOf(ranges, [series(points, { threadId: 2 })]);
    expect(other.get("outer")?.counters).toBeUndefined();
    const late = regionsOf(ranges, [series([[900, 1]], { holds: true })]);
    expect(late.get("outer")?.counters).toBeUndefined();
  });
});

/** Regions named `r` of several processes, each with its ranges and counters, as one. */
function togetherOf(
  processes: readonly {
    readonly ranges: readonly (RangeSketch & { readonly values?: RangeInstance["values"] })[];
    readonly counters?: readonly CounterSeries[];
  }[],
) {
  const timeline = {
    ...timelineOf([]),
    processes: processes.map(({ ranges, counters }, at): ProcessTimeline => {
      const process = processOf({ pid: at + 1, ranges });
      return {
        ...process,
        ranges: process.ranges.map((range, place) => {
          const { values } = ranges[place] ?? {};
          return { ...range, ...(values !== undefined && { values }) };
        }),
        ...(counters !== undefined && { counters }),
      };
    }),
  };
  return buildRegionModel(timeline).scopes[0]?.regions.find(({ path }) => path[0] === "r");
}

const close = (value: number) => expect.closeTo(value, 6);
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** One range after the other, some without a duration. */
const anyCalls = (most: number) =>
  fc.array(fc.tuple(fc.nat(6), fc.nat(8)), { minLength: 1, maxLength: most }).map((all) => {
    let now = 0;
    return all.map(([gap, long]) => {
      const start = now + gap;
      now = start + long;
      return { name: "r", start, end: now };
    });
  });

describe("numbers of several processes", () => {
  test("of payloads are those of all ranges: only amounts have sums, and labels are no numbers", () => {
    const fields = [
      BYTES,
      payloadField("time", "ms"),
      payloadField("bytes", "ms"),
      payloadField("deviceId"),
    ] as const;
    const values = fc.array(fc.record({ field: fc.constantFrom(...fields), value: fc.nat(99) }), {
      maxLength: 4,
    });
    const process = fc.tuple(anyCalls(4), fc.infiniteStream(values)).map(([calls, stream]) => ({
      ranges: calls.map((call) => ({ ...call, values: stream.next().value })),
    }));
    fc.assert(
      fc.property(fc.array(process, { minLength: 1, maxLength: 3 }), (processes) => {
        const calls = processes.flatMap(({ ranges }) => ranges);
        const wanted = fields.slice(0, 3).flatMap(({ name, unit, kind }) => {
          const those = calls.map((call) => ({
            ...call,
            numbers: call.values.flatMap(({ field, value }: PayloadNumber) =>
              field.name === name && field.unit === unit ? value : [],
            ),
          }));
          const numbers = those.flatMap((call) => call.numbers);
          const ns = total(
            those.map((call) => (call.numbers.length > 0 ? call.end - call.start : 0)),
          );
          const sum = total(numbers);
          return numbers.length === 0
            ? []
            : {
                ...{ name, unit, count: numbers.length, mean: close(sum / numbers.length) },
                ...{ min: Math.min(...numbers), max: Math.max(...numbers) },
                ...(kind === "amount" && { sum }),
                ...(kind === "amount" && ns > 0 && { per_second: close((sum / ns) * 1e9) }),
              };
        });
        const found = togetherOf(processes)?.payloads ?? [];
        expect(found).toHaveLength(wanted.length);
        expect(found).toEqual(expect.arrayContaining(wanted));
      }),
    );
  });

  test("of counters are those of all samples, weighted by the time that they hold", () => {
    const points = fc
      .uniqueArray(fc.nat(60), { maxLength: 8 })
      .map((times) => times.toSorted((a, b) => a - b))
      .chain((times) => fc.tuple(...times.map((time) => fc.tuple(fc.constant(time), fc.nat(9)))));
    const counter = fc.record({
      points,
      holds: fc.boolean(),
      thread: fc.constantFrom(null, 1, 2),
      unit: fc.constantFrom("", "byte"),
    });
    const process = fc.record({
      calls: anyCalls(3),
      counters: fc.array(counter, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(process, { minLength: 1, maxLength: 3 }), (processes) => {
        const wanted = ["", "byte"].flatMap((unit) => {
          const samples = processes.flatMap(({ calls, counters }) =>
            counters
              .filter((one) => one.unit === unit && one.thread !== 2)
              .flatMap(({ points: all, holds }) =>
                calls.flatMap(({ start, end }) =>
                  all.flatMap(([time, value], at) => {
                    const next = all[at + 1]?.[0] ?? Number.POSITIVE_INFINITY;
                    const isSeen = time >= start || (holds && next > start);
                    if (time > end || !isSeen) return [];
                    const overlap = Math.min(end, next) - Math.max(start, time);
                    return { value, weight: holds ? overlap : 1 };
                  }),
                ),
              ),
          );
          if (samples.length === 0) return [];
          const values = samples.map(({ value }) => value);
          const weight = total(samples.map((sample) => sample.weight));
          const weighted = total(samples.map((sample) => sample.value * sample.weight));
          return {
            ...{ name: "depth", domain: "", unit, samples: samples.length },
            ...{ min: Math.min(...values), max: Math.max(...values) },
            mean: close(weight > 0 ? weighted / weight : total(values) / values.length),
          };
        });
        const found =
          togetherOf(
            processes.map(({ calls, counters }) => ({
              ranges: calls,
              counters: counters.map(({ points: all, holds, thread, unit }) =>
                series(all, { holds, threadId: thread, unit }),
              ),
            })),
          )?.counters ?? [];
        expect(found).toHaveLength(wanted.length);
        expect(found).toEqual(expect.arrayContaining(wanted));
      }),
    );
  });
});

describe("counters of a region", () => {
  const at = (start: number, end: number) => ({ name: "r", start, end });
  const points = (...all: readonly (readonly [number, number])[]) => all;

  test("of several processes have the mean over the time of all", () => {
    const found = togetherOf([
      { ranges: [at(0, 100)], counters: [series(points([0, 4], [50, 8]), { holds: true })] },
      { ranges: [at(0, 20)], counters: [series(points([0, 10]), { holds: true })] },
    ]);
    expect(found?.counters).toEqual([
      { name: "depth", domain: "", unit: "", samples: 3, min: 4, mean: 800 / 120, max: 10 },
    ]);
  });

  test("without a duration have the mean of the values, in one process and in several", () => {
    const held = { holds: true };
    const twice = {
      ranges: [at(10, 10), at(20, 20)],
      counters: [series(points([10, 7], [20, 13]), held)],
    };
    const once = { ranges: [at(10, 10)], counters: [series(points([0, 4]), held)] };
    expect(togetherOf([twice])?.counters).toMatchObject([{ samples: 2, mean: 10 }]);
    expect(togetherOf([twice, once])?.counters).toMatchObject([
      { samples: 3, min: 4, mean: 8, max: 13 },
    ]);
  });

  test("are told apart by their domain, name and unit; a sample at the start is one of the range", () => {
    const counters = [
      series(points([10, 1])),
      series(points([10, 2]), { unit: "byte" }),
      series(points([10, 3]), { name: "width" }),
      series(points([10, 4]), { domain: "x" }),
    ];
    const found = togetherOf([{ ranges: [at(10, 20)], counters }]);
    expect(found?.counters?.map(({ samples, mean }) => [samples, mean])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [1, 4],
    ]);
  });

  test("are not there where none has a value, nor are payloads that only name something", () => {
    const values = [{ field: payloadField("deviceId"), value: 3 }];
    const found = togetherOf([
      { ranges: [{ ...at(10, 20), values }], counters: [series(points([30, 1]))] },
    ]);
    expect(found).not.toHaveProperty("counters");
    expect(found).not.toHaveProperty("payloads");
  });
});

test("a counter between two times has what it was there, or nothing", () => {
  const own = series(
    [
      [10, 4],
      [20, 8],
    ],
    { holds: true, name: "loss", domain: "train", unit: "nat" },
  );
  const named = { name: "loss", domain: "train", unit: "nat" };
  expect(counterBetween(own, 15, 25)).toEqual({ ...named, samples: 2, min: 4, mean: 6, max: 8 });
  expect(counterBetween(own, 20, 20)).toEqual({ ...named, samples: 1, min: 8, mean: 8, max: 8 });
  expect(counterBetween(own, 0, 9)).toBeNull();
});

test("a value without a duration that ended before is none of a moment", () => {
  const samples = series(
    [
      [0, 5],
      [40, 7],
    ],
    { holds: true, endsNs: Float64Array.of(20, 60) },
  );
  const valuesAt = (ns: number) => counterBetween(samples, ns, ns);
  expect(valuesAt(10)).toMatchObject({ samples: 1, mean: 5 });
  for (const ns of [20, 30, 60]) expect(valuesAt(ns)).toBeNull();
  expect(valuesAt(40)).toMatchObject({ samples: 1, mean: 7 });
});

describe("clocks of the program", () => {
  const clocks = () => createProgramClocks((ns) => Number(ns));

  test("without a word are the recorder's own, as the steady clock is", () => {
    for (const id of [0n, 1n, 14n, 50n]) expect(clocks().timeOf(3, id, 123n)).toBe(123);
  });

  test("are converted by their resolution and the nearest moment of both", () => {
    const own = clocks();
    const id = (1n << 24n) + 1n;
    expect(own.timeOf(1, id, 5n)).toBeNull();
    own.define({ domain: 1, id, type: 0n, resolution: 1e6 });
    own.pair({ domain: 1, ids: [id, 14n], times: [100n, 1_000_000n] });
    expect(own.timeOf(1, id, 103n)).toBe(1_003_000);
    // Of another domain it is another clock.
    expect(own.timeOf(2, id, 103n)).toBeNull();
  });

  test("without a known rate are measured between two moments, also by way of a third clock", () => {
    const own = clocks();
    const [a, b] = [(1n << 24n) + 1n, (1n << 24n) + 2n];
    own.pair({ domain: 1, ids: [a, b], times: [0n, 1000n] });
    own.pair({ domain: 1, ids: [a, b], times: [10n, 1100n] });
    expect(own.timeOf(1, a, 5n)).toBeNull();
    own.pair({ domain: 1, ids: [b, 12n], times: [1000n, 5000n] });
    own.pair({ domain: 1, ids: [b, 12n], times: [2000n, 7000n] });
    own.pair({ domain: 0, ids: [12n, 14n], times: [5000n, 100n] });
    // 10 b a tick, 2 ns a b.
    expect(own.timeOf(1, a, 5n)).toBe(200);
  });

  test("keep nanoseconds of the clock of the day, which no number holds", () => {
    const own = clocks();
    const now = 1_764_187_200_123_456_789n;
    own.pair({ domain: 0, ids: [12n, 14n], times: [now, 5_000_000n] });
    expect(own.timeOf(0, 12n, now + 1n)).toBe(5_000_001);
    expect(own.timeOf(0, 52n, now - 7n)).toBe(4_999_993);
  });
});
