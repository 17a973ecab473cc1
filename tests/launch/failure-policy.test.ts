import { describe, expect, test } from "vitest";
import type { JobResult } from "../../src/job/job.ts";
import {
  endOfResult,
  endOfState,
  type FailurePolicy,
  isTolerated,
  openGate,
  sweepExitCode,
} from "../../src/launch/failure-policy.ts";
import { begun, ended } from "../../src/record/job-state.ts";

const result = (status: JobResult["status"], exitCode: number): JobResult => ({
  status,
  exitCode,
  outputDir: "/s/0",
  overrides: [],
  returnValue: undefined,
  error: undefined,
});

const DONE = result("completed", 0);
const THREW = result("failed", 1);

describe("the exit code of a sweep", () => {
  const codeOf = (...results: readonly (JobResult | undefined)[]) =>
    sweepExitCode(results.map((one) => one && endOfResult(one)));

  test("0 when every job is completed", () => {
    expect(codeOf()).toBe(0);
    expect(codeOf(DONE, DONE)).toBe(0);
  });

  test("1 for an error, the task's own code where it gave one, the first of several", () => {
    expect(codeOf(DONE, THREW)).toBe(1);
    expect(codeOf(DONE, result("completed", 3), THREW)).toBe(3);
    expect(codeOf(THREW, result("completed", 3))).toBe(1);
  });

  test("1 for jobs that came to no end, unless another says more", () => {
    expect(codeOf(DONE, undefined)).toBe(1);
    expect(codeOf(undefined, result("failed", 7))).toBe(7);
  });

  test("that of a signal before any other", () => {
    expect(codeOf(THREW, result("completed", 130))).toBe(130);
  });

  test("of a record is that of the results", () => {
    const state = begun(0, undefined);
    const end = (status: "completed" | "failed" | "stopped" | "timed_out", code: number | null) =>
      endOfState(ended(state, { status, exitCode: code }));
    const completed = end("completed", 0);
    expect(sweepExitCode([completed, completed])).toBe(0);
    expect(sweepExitCode([completed, endOfState(state)])).toBe(1);
    expect(sweepExitCode([end("timed_out", null), end("failed", 4)])).toBe(4);
    expect(sweepExitCode([end("timed_out", null)])).toBe(1);
    expect(sweepExitCode([completed, end("stopped", 143)])).toBe(143);
    const onSlurm = begun(0, undefined, { details: { scheduler: "7_1" } });
    const code = (exitCode: number) =>
      sweepExitCode([endOfState(ended(onSlurm, { status: "failed", exitCode }))]);
    // The signal was not for the sweep.
    expect([code(137), code(7)]).toEqual([1, 7]);
  });

  test("what a sweeper tolerates has failed, and not only come to no end", () => {
    expect([THREW, result("completed", 3)].map(isTolerated)).toEqual([true, true]);
    const stopped = [result("failed", 143), { ...THREW, isLeftUndone: true } as const];
    expect([DONE, ...stopped].map(isTolerated)).toEqual([false, false, false]);
  });
});

describe("on_failure", () => {
  const gateAfter = (policy: FailurePolicy, ...results: readonly JobResult[]) => {
    const gate = openGate(policy);
    for (const one of results) gate.count(one);
    return [gate.mayStart(), gate.mayFollow()];
  };

  test("a task that says so by its exit code has failed like one that throws", () => {
    for (const failed of [THREW, result("completed", 3)]) {
      expect(gateAfter({ kind: "continue" }, failed)).toEqual([true, true]);
      expect(gateAfter({ kind: "finish_batch" }, failed)).toEqual([true, false]);
      expect(gateAfter({ kind: "stop", after: 1 }, failed)).toEqual([false, false]);
      expect(gateAfter({ kind: "stop", after: 2 }, failed)).toEqual([true, true]);
      expect(gateAfter({ kind: "stop", after: 2 }, failed, DONE, failed)).toEqual([false, false]);
    }
  });

  test("a signal stops a sweep under any policy", () => {
    expect(gateAfter({ kind: "continue" }, result("completed", 143))).toEqual([false, false]);
  });
});
