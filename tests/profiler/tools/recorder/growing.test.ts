import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createNotes, type RecordedEvent } from "../../../../src/profiler/tools/recorder/events.ts";
import { readRecording } from "../../../../src/profiler/tools/recorder/read.ts";
import { openRecording } from "../../../../src/profiler/tools/recorder/recording-cursor.ts";
import { watchRecording } from "../../../../src/profiler/tools/recorder/recording-progress.ts";
import { runs } from "../../../runs.ts";
import { folderWith } from "./folder.ts";
import {
  type ChunkContent,
  recording,
  records,
  START_NS,
  stringRecord,
  type Words,
} from "./writer.ts";

/** What a program does on one thread: opens a range, closes the innermost, or waits. */
type Step = { readonly push: string } | "pop" | { readonly wait: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ push: fc.constantFrom("a", "b", "c.d", "é") }),
  fc.constant("pop" as const),
  fc.record({ wait: fc.integer({ min: 1, max: 6_000_000_000 }) }),
);

interface Expected {
  readonly name: string;
  readonly startNs: number;
  endNs: number | null;
}

/** The records a recorder makes of these steps, and the ranges that must come out. */
function simulate(steps: readonly Step[]): { words: Words[]; ranges: Expected[] } {
  const words: Words[] = [records.thread(0, 7)];
  const ids = new Map<string, number>();
  const ranges: Expected[] = [];
  const open: Expected[] = [];
  let base = 0;
  let now = 0;
  const delta = (): number => {
    if (now - base > 0xffffffff) {
      words.push(records.time(START_NS + BigInt(now)));
      base = now;
    }
    return now - base;
  };
  for (const each of steps) {
    now++;
    if (each === "pop") {
      const range = open.pop();
      if (range !== undefined) range.endNs = now;
      words.push(records.pop(delta()));
    } else if ("wait" in each) {
      now += each.wait;
    } else {
      let id = ids.get(each.push);
      if (id === undefined) {
        id = ids.size + 1;
        ids.set(each.push, id);
        words.push(stringRecord(id, each.push));
      }
      const range: Expected = { name: each.push, startNs: now, endNs: null };
      ranges.push(range);
      open.push(range);
      words.push(records.push(delta(), id));
    }
  }
  return { words, ranges };
}

const onlyChunk = (words: readonly Words[]): ChunkContent => ({
  stream: 0,
  sequence: 0,
  baseNs: START_NS,
  records: words,
});

describe("reading", () => {
  test("gives back the ranges of any program", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { words, ranges } = simulate(steps);
        const [process] = readRecording(folderWith(recording([onlyChunk(words)]))).processes;
        expect(
          process?.ranges.map(({ name, startNs, endNs }) => ({ name, startNs, endNs })),
        ).toEqual(ranges);
      }),
      { numRuns: runs(150) },
    );
  });

  test("while the file grows gives the same events as afterwards", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.infiniteStream(fc.nat(5)),
        (steps, counts) => {
          const { words } = simulate(steps);
          const path = join(folderWith(), "growing.nvtxrec");
          const early: RecordedEvent[] = [];
          writeFileSync(path, "");
          const cursor = openRecording(path, (event) => early.push(event), createNotes());
          for (let end = 0; end < words.length; end += 1 + (counts.next().value ?? 0)) {
            writeFileSync(path, recording([onlyChunk(words.slice(0, end))]));
            cursor.advance();
          }
          writeFileSync(path, recording([onlyChunk(words)]));
          cursor.advance();
          const late: RecordedEvent[] = [];
          openRecording(path, (event) => late.push(event), createNotes()).advance();
          expect(early).toEqual(late);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  test("goes on in later chunks of a stream, after the rest of the earlier one", () => {
    const first = [records.thread(0, 7), stringRecord(1, "across"), records.push(1, 1)];
    const path = join(folderWith(), "chunks.nvtxrec");
    const names: string[] = [];
    const sink = (event: RecordedEvent) => {
      names.push(event.kind);
    };
    writeFileSync(path, recording([onlyChunk(first)]));
    const cursor = openRecording(path, sink, createNotes());
    cursor.advance();
    const second = { stream: 0, sequence: 1, baseNs: START_NS + 100n, records: [records.pop(5)] };
    writeFileSync(path, recording([onlyChunk([...first, records.push(2, 1)]), second]));
    cursor.advance();
    expect(names).toEqual(["thread", "push", "push", "pop"]);
  });
});

describe("a recording", () => {
  const words = [records.thread(0, 7), stringRecord(1, "a"), records.push(1, 1), records.pop(2)];
  const next = { stream: 0, sequence: 1, baseNs: START_NS, records: [records.push(3, 1)] };
  const cursorOf = (options: Parameters<typeof recording>[1]) => {
    const path = join(folderWith(), "ended.nvtxrec");
    writeFileSync(path, recording([onlyChunk(words), next], options));
    return openRecording(path, () => {}, createNotes());
  };

  test("is complete once its process has told that it ends, and all is read", () => {
    const cursor = cursorOf({ finishedNs: START_NS + 9n });
    expect(cursor.isComplete()).toBe(false);
    cursor.advance(1);
    expect(cursor.isComplete()).toBe(false);
    cursor.advance();
    expect(cursor.isComplete()).toBe(true);
  });

  test("of a process that was killed, or still runs, never is", () => {
    const cursor = cursorOf({});
    cursor.advance();
    expect(cursor.isComplete()).toBe(false);
  });
});

describe("watching", () => {
  test("counts ranges and names the one opened last, without the ignored domains", () => {
    const directory = folderWith();
    mkdirSync(directory, { recursive: true });
    const progress = watchRecording(directory, { ignoreDomains: ["ops"] });
    const words = [
      records.thread(0, 7),
      stringRecord(1, "outer"),
      stringRecord(2, "inner"),
      stringRecord(3, "ops"),
      records.domain(1, 3),
      records.push(1, 1),
      records.push(2, 2),
      records.push(3, 2, 1),
    ];
    const write = (more: Words[]) =>
      writeFileSync(join(directory, "a.nvtxrec"), recording([onlyChunk([...words, ...more])]));
    expect(progress()).toEqual({ processes: 0, ranges: 0, openRegion: null });
    write([]);
    expect(progress()).toEqual({ processes: 1, ranges: 2, openRegion: "inner" });
    write([records.pop(4, 1), records.pop(5)]);
    expect(progress()).toEqual({ processes: 1, ranges: 2, openRegion: "outer" });
    appendFileSync(join(directory, "noise.nvtxrec"), "this is no recording");
    expect(progress()).toMatchObject({ ranges: 2, openRegion: "outer" });
  });

  test("of a directory that does not exist yet waits for it", () => {
    expect(watchRecording(join(folderWith(), "later"))()).toMatchObject({ processes: 0 });
  });
});
