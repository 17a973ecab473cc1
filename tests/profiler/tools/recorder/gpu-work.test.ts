import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createNotes } from "../../../../src/profiler/tools/recorder/events.ts";
import { lossReason } from "../../../../src/profiler/tools/recorder/format.ts";
import {
  createGpuCollection,
  createLaunches,
} from "../../../../src/profiler/tools/recorder/gpu-work.ts";
import { runs } from "../../../runs.ts";

const launch = (correlation: number, timeNs: number, startsKernels = true) =>
  ({ kind: "launch", stream: 0, threadId: 7, timeNs, correlation, startsKernels }) as const;

describe("launches", () => {
  test("are found by any 32-bit correlation; the first of two stays", () => {
    const correlations = fc.oneof(fc.nat(50), fc.integer({ min: 0, max: 0xffffffff }));
    fc.assert(
      fc.property(fc.array(correlations, { maxLength: 5_000, size: "max" }), (added) => {
        const launches = createLaunches();
        const expected = new Map<number, number>();
        for (const [at, correlation] of added.entries()) {
          launches.add(launch(correlation, at));
          if (!expected.has(correlation)) expected.set(correlation, at);
        }
        const found = [...expected.keys()].map((correlation) => {
          const index = launches.find(correlation);
          return [correlation, index === null ? null : launches.timeNs(index)];
        });
        expect(found).toEqual([...expected]);
        const absent = [0, 51, 0xffffffff, 0x80000000].filter((one) => !expected.has(one));
        expect(absent.map(launches.find)).toEqual(absent.map(() => null));
      }),
      { numRuns: runs(50) },
    );
  });

  test("count those of which no kernel was seen", () => {
    const launches = createLaunches();
    for (const correlation of [1, 2, 3]) launches.add(launch(correlation, 0));
    launches.add(launch(4, 0, false));
    const second = launches.find(2);
    expect(second).not.toBeNull();
    launches.answer(second ?? 0);
    launches.answer(second ?? 0);
    expect(launches.unanswered()).toBe(2);
  });
});

describe("work that had not finished", () => {
  const notesOf = (recorderGoesOn: boolean | null) => {
    const notes = createNotes();
    const gpu = createGpuCollection(notes);
    gpu.add({ kind: "loss", reason: lossReason.unfinished, count: 2 });
    if (recorderGoesOn !== null)
      gpu.add({
        kind: "program_profiler",
        timeNs: 2_500_000_000,
        call: "cuptiSubscribe",
        library: "",
        recorderGoesOn,
      });
    gpu.finish(true, 0, 1_000_000_000);
    return notes.list();
  };

  test.each([
    [null, "2 kernels or copies had not finished when the process ended"],
    [true, "2 kernels or copies had not finished when the process ended"],
    [false, "2 kernels or copies had not finished when the program's profiler began"],
  ])("is said to have been so at the end of the GPU's recording (%s)", (goesOn, note) => {
    expect(notesOf(goesOn)).toContain(note);
  });

  test("the time counts from the start of the process, and an unknown caller has no name", () => {
    expect(notesOf(false)[0]).toContain(
      "recorded for the first 1.500 s: then the program's own profiler began (cuptiSubscribe), and",
    );
  });
});
