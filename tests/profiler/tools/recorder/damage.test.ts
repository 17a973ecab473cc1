import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCodedError } from "../../../../src/engine/values/errors.ts";
import type { Timeline } from "../../../../src/profiler/model/timeline.ts";
import { readRecording } from "../../../../src/profiler/tools/recorder/read.ts";
import { watchRecording } from "../../../../src/profiler/tools/recorder/recording-progress.ts";
import { runs } from "../../../runs.ts";
import { fixture, folderWith } from "./folder.ts";

const samples = ["full-api", "threads", "crash", "resnet-regions"].map((name) => {
  const directory = fixture(name);
  return readFileSync(join(directory, readdirSync(directory)[0] ?? ""));
});

/** What stays true of a timeline however damaged its source is. */
function expectSound(timeline: Timeline): void {
  for (const process of timeline.processes) {
    expect(process.endNs).toBeGreaterThanOrEqual(process.startNs);
    let last = Number.NEGATIVE_INFINITY;
    for (const [i, range] of process.ranges.entries()) {
      expect(range.id).toBe(i);
      expect(range.startNs).toBeGreaterThanOrEqual(last);
      expect(range.endNs ?? range.startNs).toBeGreaterThanOrEqual(range.startNs);
      last = range.startNs;
    }
  }
}

/** Reads it both ways; a refusal must be the reader's own. */
function readDamaged(bytes: Uint8Array): Timeline | null {
  const directory = folderWith(bytes);
  watchRecording(directory)();
  try {
    return readRecording(directory);
  } catch (error) {
    if (isCodedError(error) && error.code === "recording.invalid") return null;
    throw error;
  }
}

describe("a damaged recording", () => {
  test("cut anywhere, reads as far as it goes and says so", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (whole, part) => {
          const bytes = whole.subarray(0, Math.floor(part * (whole.length - 1)));
          const timeline = readDamaged(bytes);
          if (timeline === null) throw new Error("a cut is no reason to refuse a recording");
          expectSound(timeline);
          const notes = [...timeline.notes, ...timeline.processes.flatMap(({ notes }) => notes)];
          expect(notes.join("\n")).toMatch(/cut short|before it recorded anything/);
          // What is there is what the whole file has, up to the cut.
          const all = readDamaged(whole)?.processes[0]?.ranges.length ?? 0;
          expect(timeline.processes[0]?.ranges.length ?? 0).toBeLessThanOrEqual(all);
        },
      ),
      { numRuns: runs(150) },
    );
  });

  test("with flipped bits, crashes nothing", () => {
    const flips = fc.array(fc.record({ at: fc.nat(), bit: fc.nat(7) }), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.constantFrom(...samples), flips, (whole, places) => {
        const bytes = Uint8Array.from(whole);
        for (const { at, bit } of places) {
          const i = at % bytes.length;
          bytes[i] = (bytes[i] ?? 0) ^ (1 << bit);
        }
        const timeline = readDamaged(bytes);
        if (timeline !== null) expectSound(timeline);
      }),
      { numRuns: runs(400) },
    );
  });

  test("with flipped bits where lengths and ids stand, crashes nothing", () => {
    // Damage in the headers and first records, where most of the structure is.
    const flips = fc.array(fc.record({ at: fc.nat(), value: fc.nat(255) }), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.constantFrom(...samples), flips, (whole, places) => {
        const bytes = Uint8Array.from(whole);
        for (const { at, value } of places) bytes[(at % 2 === 0 ? 8 : 4096) + (at % 240)] = value;
        const timeline = readDamaged(bytes);
        if (timeline !== null) expectSound(timeline);
      }),
      { numRuns: runs(400) },
    );
  });

  test("overwritten with noise, crashes nothing", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.uint8Array({ minLength: 1, maxLength: 3000 }),
        fc.nat(),
        (whole, noise, at) => {
          const bytes = Uint8Array.from(whole);
          bytes.set(noise.subarray(0, bytes.length), at % Math.max(1, bytes.length - noise.length));
          const timeline = readDamaged(bytes);
          if (timeline !== null) expectSound(timeline);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
