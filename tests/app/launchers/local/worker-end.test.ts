import { expect, test } from "vitest";
import { endOfWorker } from "../../../../src/app/launchers/local/worker-end.ts";
import { begun, ended, type JobState } from "../../../../src/app/sweep/record/job-state.ts";

const RUN = { folder: "/nowhere", number: 3, timeLimit: 2000 };
const failedAfter = (took_ms: number): JobState => {
  const state = ended(begun(3, undefined), { status: "failed", exitCode: 1, error: "its own" });
  return { ...state, attempts: state.attempts.map((attempt) => ({ ...attempt, took_ms })) };
};
const EXIT = { exitCode: 1, signal: null };

test("a job that failed in time failed, also where its launcher was suspended and asked it late to end", () => {
  expect(endOfWorker(failedAfter(500), EXIT, "timeout", RUN)).toBeUndefined();
});

test("a job that failed since it was asked to end, or was killed, took too long", () => {
  const late = { status: "timed_out", error: "took longer than 2 s" };
  expect(endOfWorker(failedAfter(2100), EXIT, "timeout", RUN)).toMatchObject(late);
  const killed = { exitCode: null, signal: "SIGKILL" } as const;
  expect(endOfWorker(begun(3, undefined), killed, "timeout", RUN)).toMatchObject(late);
});

test("a job that failed as it was asked to stop is still to be done", () => {
  expect(endOfWorker(failedAfter(500), EXIT, "SIGINT", RUN)).toEqual({
    ...{ status: "stopped", exitCode: 130, error: "stopped by SIGINT" },
  });
});
