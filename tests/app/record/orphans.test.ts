import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { begun, ended, type JobState, writeJobState } from "../../../src/app/record/job-state.ts";
import { jobsFolder } from "../../../src/app/record/layout.ts";
import { isLost, liveWorkers, orphanOf } from "../../../src/app/record/orphans.ts";

/** A job that began in a process with these facts, and by default in this one. */
function begunIn(number: number, facts: Partial<JobState["attempts"][number]> = {}): JobState {
  const state = begun(number, undefined);
  return { ...state, attempts: state.attempts.map((attempt) => ({ ...attempt, ...facts })) };
}

const ELSEWHERE = { host: "another-machine", pid: 7, birth: null };
/** No system gives a process this number. */
const GONE = { pid: 2 ** 30, birth: null };

const states: readonly JobState[] = [
  begunIn(0),
  begunIn(1, ELSEWHERE),
  begunIn(2, GONE),
  ended(begunIn(3), { endedBy: { by: "itself" }, exitCode: 0 }),
];

function folderWith(recorded: readonly JobState[]): string {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-orphans-"));
  mkdirSync(jobsFolder(folder), { recursive: true });
  for (const state of recorded) writeJobState(folder, state);
  return folder;
}

describe("processes that run jobs of a sweep", () => {
  test("are those that live, and those of other machines, which may live", () => {
    const jobs = [...states, { number: 4 }];
    expect(liveWorkers(folderWith(states), jobs)).toMatchObject([
      { number: 0, alive: true, process: { pid: process.pid } },
      { number: 1, alive: "elsewhere", process: ELSEWHERE },
    ]);
  });

  test("are not looked for among jobs that nobody asks about", () => {
    expect(liveWorkers(folderWith(states), [{ number: 1 }]).map(({ number }) => number)).toEqual([
      1,
    ]);
  });
});

test("a job is lost only if its process is known to be gone", () => {
  expect(states.map(isLost)).toEqual([false, false, true, false]);
  expect(isLost(undefined)).toBe(false);
});

test("a job of another machine is neither waited for nor begun again", () => {
  const folder = folderWith(states);
  expect(() => orphanOf(folder, 1)).toThrow(
    expect.objectContaining({
      code: "app.sweep_record",
      message: expect.stringContaining("process 7 on another-machine"),
    }),
  );
  expect([2, 3, 4].map((number) => orphanOf(folder, number))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
