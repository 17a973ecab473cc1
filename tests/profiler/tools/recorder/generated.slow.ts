import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { readRecording } from "../../../../src/profiler/tools/recorder/read.ts";
import { growth } from "../../../growth.ts";
import { generatedRecording } from "./generated.ts";

// About 10, more on a busy machine where only the long reading meets the garbage collector; quadratic is 100.
test.each(["push_pop", "start_end"] as const)(
  "reading a recording takes time in proportion to its events, %s",
  async (ranges) => {
    const directories = new Map(
      [10_000, 100_000].map((events) => [events, generatedRecording({ events, ranges })]),
    );
    try {
      const read = (events: number) => readRecording(directories.get(events) ?? "");
      expect(await growth(read, 10_000)).toBeLessThan(40);
    } finally {
      for (const directory of directories.values())
        rmSync(directory, { recursive: true, force: true });
    }
  },
);
