import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { begun, type JobState, writeJobState } from "../../../src/app/record/job-state.ts";
import { concurrentJobs } from "../../../src/app/sweep/foreground.ts";

/** Jobs on machines, each from and until a second; null for one that has not ended. */
function found(...stays: readonly (readonly [host: string, from: number, until: number | null])[]) {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-side-"));
  const time = (second: number) => new Date(1_800_000_000_000 + second * 1000).toISOString();
  const jobs = stays.map(([host, from, until], number) => {
    const state = begun(number, undefined, {});
    const attempts = state.attempts.map((one) => ({
      ...one,
      host,
      started: time(from),
      ended: until === null ? null : time(until),
    }));
    writeJobState(folder, { ...state, attempts } satisfies JobState);
    return { number };
  });
  return concurrentJobs(folder, [...jobs, { number: 99 }]);
}

test("jobs one after the other, or on machines of their own, are not side by side", () => {
  expect(found(["a", 0, 5], ["a", 5, 9], ["b", 0, 9], ["a", 9, null])).toEqual([]);
});

test("jobs that overlap on a machine are, in their order", () => {
  expect(found(["a", 6, 9], ["b", 0, 9], ["a", 0, 5], ["a", 4, 6])).toEqual([2, 3]);
});

test("one that lasts long is beside all that begin meanwhile, also after others have ended", () => {
  expect(found(["a", 0, 100], ["a", 1, 2], ["a", 50, 51], ["a", 100, 101])).toEqual([0, 1, 2]);
  expect(found(["a", 0, null], ["a", 50, 51])).toEqual([0, 1]);
});
