import { rmSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { readRecording } from "../../../../src/profiler/tools/recorder/read.ts";
import { generatedRecording } from "./generated.ts";

const made: string[] = [];
const generated = (...args: Parameters<typeof generatedRecording>): string => {
  const directory = generatedRecording(...args);
  made.push(directory);
  return directory;
};
afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

describe.each(["push_pop", "start_end"] as const)("long recordings, %s", (ranges) => {
  test("every range is closed, and every kernel finds the call in the range around it", () => {
    const events = 5_000;
    const { processes, notes } = readRecording(generated({ events, ranges }));
    const [process] = processes;
    expect([notes, process?.notes]).toEqual([[], []]);
    expect(process?.ranges.length).toBe(events);
    expect(process?.kernels.length).toBe(events);
    const wrong = process?.ranges.filter((range, i) => {
      const kernel = process.kernels.at(i);
      const thread = 100 + (Math.floor(i / 1_000) % 2);
      return !(
        range.kind === ranges &&
        range.name === `range ${(i + 1) % 50}` &&
        range.startNs === i * 1_000 &&
        range.endNs === range.startNs + 900 &&
        range.threadId === thread &&
        kernel?.name === `_Z6kernel ${(i + 1) % 50}` &&
        kernel.launchThreadId === thread &&
        kernel.launchNs === range.startNs + 100 &&
        kernel.startNs === range.startNs + 500 &&
        kernel.endNs === range.startNs + 800
      );
    });
    expect(wrong).toEqual([]);
  });
});

test("a kernel has the fields that it needs and no others", () => {
  const [kernel] = readRecording(generated({ events: 1 })).processes[0]?.kernels ?? [];
  expect(Object.keys(kernel ?? {}).sort()).toEqual(
    [
      ...["context", "correlation", "device", "endNs", "kind", "launchNs"],
      ...["launchThreadId", "name", "startNs", "stream"],
    ].sort(),
  );
});
