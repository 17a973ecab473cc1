import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import { timelineSlice } from "../../../../src/profiler/cli/query.ts";
import { labelsOf } from "../../../../src/profiler/tools/ncu/run/label-survey.ts";
import { recordFlag, recordType } from "../../../../src/profiler/tools/recorder/format.ts";
import { readRecordingFiles } from "../../../../src/profiler/tools/recorder/read.ts";
import { runs } from "../../../runs.ts";
import { generatedRecording } from "./generated.ts";
import {
  type ChunkContent,
  record,
  recording,
  records,
  START_NS,
  stringRecord,
  type Words,
} from "./writer.ts";

const directory = mkdtempSync(join(tmpdir(), "many-ranges-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What is said of a file of which so many ranges are kept, but not that others are not. */
function regionsOf(path: string, most: number) {
  const timeline = readRecordingFiles([path], most);
  const { scopes } = buildRegionModel(timeline, { operationDomains: ["ops"] });
  const { labels, overlap } = labelsOf(timeline, ["ops"]);
  return {
    slice: timelineSlice(timeline, { fromMs: 0, toMs: null, limit: 5 }),
    labels: labels.map((label) => ({
      ...label,
      with: labels.filter((other) => overlap(label, other)).map(({ name }) => name),
    })),
    isStreamed: timeline.processes.some(({ allRanges }) => allRanges !== undefined),
    scopes: scopes.map((scope) => ({
      ...scope,
      notes: scope.notes.filter((note) => !note.includes("timelines and traces have the first")),
    })),
  };
}

function expectTheSame(path: string): void {
  const whole = regionsOf(path, Number.POSITIVE_INFINITY);
  const streamed = regionsOf(path, 1);
  expect(whole.isStreamed).toBe(false);
  expect({ ...streamed, isStreamed: false }).toEqual(whole);
}

/** Steps of a thread: a push of a label in a domain, or a pop of what is innermost. */
const steps = fc.array(
  fc.record({
    ns: fc.integer({ min: 1, max: 50 }),
    push: fc.option(
      fc.record({ name: fc.integer({ min: 1, max: 3 }), domain: fc.integer({ min: 0, max: 2 }) }),
    ),
  }),
  { maxLength: 25 },
);
const program = fc.array(steps, { minLength: 1, maxLength: 3 });

function write(
  threads: readonly (typeof steps extends fc.Arbitrary<infer T> ? T : never)[],
): string {
  const chunks: ChunkContent[] = [];
  for (const [stream, events] of threads.entries()) {
    const words: Words[] = [
      record(recordType.thread, [0, 100 + stream]),
      ...["a", "b", "c", "io", "ops"].map((text, at) => stringRecord(at + 1, text)),
      record(recordType.domain, [1, 4]),
      record(recordType.domain, [2, 5]),
    ];
    const open: number[] = [];
    // No two threads do something at the same time: which is first is then no matter of the order of chunks.
    let now = stream + 1;
    let cpu = 0;
    for (const { ns, push } of events) {
      now += ns * threads.length;
      cpu += ns;
      const domain = push === null ? open.pop() : push.domain;
      if (domain === undefined) continue;
      if (push !== null) open.push(domain);
      const flags = recordFlag.processorTime | (domain === 0 ? 0 : recordFlag.domain);
      const name = push === null ? [] : [push.name];
      words.push(
        record(
          push === null ? recordType.pop : recordType.push,
          [now, ...name, ...(domain === 0 ? [] : [domain]), cpu],
          flags,
        ),
      );
    }
    const half = Math.ceil(words.length / 2);
    for (const [sequence, records] of [words.slice(0, half), words.slice(half)].entries())
      chunks.push({ stream, sequence, baseNs: START_NS, records });
  }
  chunks.sort((a, b) => b.stream - a.stream || a.sequence - b.sequence);
  const path = join(directory, "events-1-1.nvtxrec");
  writeFileSync(path, recording(chunks, { finishedNs: START_NS + 100_000n }));
  return path;
}

/** What threads do in turn: ranges of domains that close in any order, and those that any thread may end. */
const deeds = fc.array(
  fc.record({
    ns: fc.integer({ min: 1, max: 50 }),
    thread: fc.nat(2),
    what: fc.constantFrom("push", "pop", "start", "end", "end again"),
    name: fc.integer({ min: 1, max: 3 }),
    domain: fc.nat(2),
    which: fc.nat(9),
  }),
  { maxLength: 60 },
);

/** Ranges that are handed over when they are over. */
const handedOver = fc.array(
  fc.record({
    thread: fc.nat(2),
    startNs: fc.integer({ min: 1, max: 200 }),
    ns: fc.nat(40),
    name: fc.integer({ min: 1, max: 3 }),
    domain: fc.nat(2),
    isStartEnd: fc.boolean(),
  }),
  { maxLength: 8 },
);
type Values<A> = A extends fc.Arbitrary<infer T> ? T : never;

const wide = (value: bigint): number[] => [
  Number(value & 0xffffffffn),
  Number((value >> 32n) & 0xffffffffn),
];

/** A structure of two times of CLOCK_MONOTONIC: when a range began, and when it ended. */
function schemaRecord(domain: number, isStartEnd: boolean): Words {
  const [timestamp, begin, end] = [2 << 10, 1 << 12, 2 << 12];
  const entry = (flags: number, offset: bigint) => [
    ...[...wide(BigInt(flags)), ...wide(10n), ...wide(0n), ...wide(offset), 0],
    ...[...wide(0n), ...wide(0n), ...wide(0n), ...wide(0n), ...wide(14n), 0, 0],
  ];
  const [type, flags] = [1, (isStartEnd ? 3 : 2) << 3];
  return record(recordType.schema, [
    ...[1, domain, ...wide(isStartEnd ? 101n : 100n), type, flags, 16, 0, 0, 2],
    ...[...entry(timestamp | begin, 0n), ...entry(timestamp | end, 8n)],
  ]);
}

function handOver({ startNs, ns, name, domain, isStartEnd }: Values<typeof handedOver>[0]) {
  const begin = START_NS + BigInt(startNs);
  const times = [...wide(begin), ...wide(begin + BigInt(ns))];
  const schema = wide(isStartEnd ? 101n : 100n);
  return [
    record(recordType.payload, [domain, ...schema, name, ...wide(0n), 16, ...times]),
    record(recordType.deferred, [domain, ...wide(0n), 1]),
  ];
}

function writeOverlapping(
  all: Values<typeof deeds>,
  later: Values<typeof handedOver> = [],
): string {
  const words = [0, 1, 2].map((stream): Words[] => [
    record(recordType.thread, [0, 100 + stream]),
    ...["a", "b", "c", "io", "ops"].map((text, at) => stringRecord(at + 1, text)),
    record(recordType.domain, [1, 4]),
    record(recordType.domain, [2, 5]),
  ]);
  let now = 1;
  const ids: number[] = [];
  const ended: number[] = [];
  let started = 0;
  for (const { ns, thread, what, name, domain, which } of all) {
    if (what === "end" && ids.length === 0) continue;
    if (what === "end again" && ended.length === 0) continue;
    if (what === "start") ids.push(started);
    now += ns;
    const inDomain = domain === 0 ? [] : [domain];
    const flags = recordFlag.processorTime | (domain === 0 ? 0 : recordFlag.domain);
    // Ids are 64 bits.
    if (what === "end") ended.push(...ids.splice(which % ids.length, 1));
    const closed = what === "end" ? ended.at(-1) : ended[which % ended.length];
    const id = [what === "start" ? started++ : (closed ?? 0), 0];
    const cpu = Math.ceil(now / 2);
    words[thread]?.push(
      what === "push"
        ? record(recordType.push, [now, name, ...inDomain, cpu], flags)
        : what === "pop"
          ? record(recordType.pop, [now, ...inDomain, cpu], flags)
          : what === "start"
            ? record(recordType.start, [now, ...id, name, ...inDomain, cpu], flags)
            : record(recordType.end, [now, ...id, cpu], recordFlag.processorTime),
    );
  }
  if (later.length > 0)
    for (const stream of words)
      for (const domain of [0, 1, 2])
        stream.push(schemaRecord(domain, false), schemaRecord(domain, true));
  for (const range of later) words[range.thread]?.push(...handOver(range));
  const chunks = words.flatMap((records, stream): ChunkContent[] => {
    const half = Math.ceil(records.length / 2);
    const parts = [records.slice(0, half), records.slice(half)];
    return parts.map((part, sequence) => ({ stream, sequence, baseNs: START_NS, records: part }));
  });
  chunks.sort((a, b) => b.stream - a.stream || a.sequence - b.sequence);
  const path = join(directory, "events-1-1.nvtxrec");
  writeFileSync(path, recording(chunks, { finishedNs: START_NS + 100_000n }));
  return path;
}

describe("a range that is ended more than once", () => {
  const [x, after] = [1, 2];
  /** The main thread starts x and ends it at 95; before that, another thread ends it. */
  const ends = (...elsewhere: readonly number[]) => {
    const main = [
      ...[records.thread(0, 100), stringRecord(x, "x"), stringRecord(after, "after")],
      ...[records.start(0, 7n, x), records.push(40, after), records.pop(90), records.end(95, 7n)],
    ];
    const other = [records.thread(0, 101), ...elsewhere.map((at) => records.end(at, 7n))];
    const path = join(directory, "events-1-1.nvtxrec");
    const chunk = { sequence: 0, baseNs: START_NS };
    writeFileSync(
      path,
      recording([
        { ...chunk, stream: 0, records: main },
        { ...chunk, stream: 1, records: other },
      ]),
    );
    return path;
  };

  it.each([[[30]], [[30, 60]]])("ends at its first end, on any thread: %j", (others) => {
    const path = ends(...others);
    const timeline = readRecordingFiles([path]);
    const [process] = timeline.processes;
    expect(
      process?.ranges.map(({ name, endNs, endThreadId }) => [name, endNs, endThreadId]),
    ).toEqual([
      ["x", 30, 101],
      ["after", 90, 100],
    ]);
    expect(process?.notes.join()).toContain(`ranges ended more than once: ${others.length}`);
    const { scopes } = buildRegionModel(timeline);
    expect(scopes[0]?.regions.map(({ path: labels }) => labels.join(" > "))).toEqual([
      "x",
      "after",
      "(outside)",
    ]);
    expectTheSame(path);
  });

  it("has used what its thread had used by then", () => {
    const flags = recordFlag.processorTime;
    const timed = (type: number, words: Words) => record(type, words, flags);
    const path = join(directory, "events-1-1.nvtxrec");
    const chunk = { sequence: 0, baseNs: START_NS };
    const own = [
      ...[records.thread(0, 100), stringRecord(x, "x")],
      ...[timed(recordType.start, [0, 7, 0, x, 0]), timed(recordType.end, [95, 7, 0, 80])],
    ];
    const other = [records.thread(0, 101), timed(recordType.end, [30, 7, 0, 5])];
    writeFileSync(
      path,
      recording([
        { ...chunk, stream: 0, records: own },
        { ...chunk, stream: 1, records: other },
      ]),
    );
    const [range] = readRecordingFiles([path]).processes[0]?.ranges ?? [];
    // It ended on another thread: how much its own had used then is not known.
    expect([range?.endNs, range?.cpuNs]).toEqual([30, null]);
    expectTheSame(path);
  });
});

describe("ranges that are read again", () => {
  it("give the same where they overlap in any way, closed or not, by their thread or another", () => {
    fc.assert(fc.property(deeds, (all) => expectTheSame(writeOverlapping(all))));
  });

  it("give the same where some are handed over when they are over", () => {
    const first = { ns: 1, thread: 0, what: "start", name: 1, domain: 0, which: 0 } as const;
    fc.assert(
      fc.property(deeds, handedOver, (all, later) =>
        expectTheSame(writeOverlapping([first, { ...first, name: 2 }, ...all], later)),
      ),
      { numRuns: runs(40) },
    );
  });

  it("give the regions of those that are kept, of any threads, domains and operations, closed or not", () => {
    fc.assert(fc.property(program, (threads) => expectTheSame(write(threads))));
  });

  it("take launches of kernels at their time", () => {
    const generated = generatedRecording({ events: 3_000, names: 5 });
    try {
      const path = join(generated, "1.nvtxrec");
      expect(regionsOf(path, 100).isStreamed).toBe(true);
      expectTheSame(path);
    } finally {
      rmSync(generated, { recursive: true, force: true });
    }
  });

  it("need not close in the reverse order of their opening", () => {
    const generated = generatedRecording({ events: 2_000, names: 5, ranges: "start_end" });
    try {
      const path = join(generated, "1.nvtxrec");
      expect(regionsOf(path, 100).isStreamed).toBe(true);
      expectTheSame(path);
    } finally {
      rmSync(generated, { recursive: true, force: true });
    }
  });
});
