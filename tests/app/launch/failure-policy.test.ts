import { describe, expect, test } from "vitest";
import { type Ender, ITSELF } from "../../../src/app/job/ender.ts";
import type { JobResult } from "../../../src/app/job/job.ts";
import {
  endOfResult,
  endOfState,
  failurePolicy,
  isTolerated,
  openGate,
  sweepExitCode,
} from "../../../src/app/launch/failure-policy.ts";
import type { FailurePolicy } from "../../../src/app/launch/launcher-settings.ts";
import { begun, ended } from "../../../src/app/record/job-state.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { createConfig } from "../../../src/engine/values/yaml/reader.ts";
import { program } from "../cli/program.ts";

const result = (status: JobResult["status"], exitCode: number): JobResult => ({
  status,
  exitCode,
  outputDir: "/s/0",
  overrides: [],
  returnValue: undefined,
  error: undefined,
});

/** What ends a job and not its sweep. */
const OTHERS: readonly Ender[] = [
  { by: "time_limit", limit_ms: 1 },
  { by: "signal", signal: "SIGTERM" },
  { by: "signal", signal: "SIGKILL" },
  { by: "scheduler", cause: "preempted" },
  { by: "scheduler", cause: "time_limit" },
  { by: "out_of_memory" },
  { by: "unknown" },
];

const STOPPED: readonly Ender[] = [
  { by: "cancel" },
  { by: "launcher", signal: "SIGINT" },
  { by: "signal", signal: "SIGTERM" },
  { by: "scheduler", cause: "node_lost" },
  { by: "unknown" },
];

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

  test("that of the signal that stopped the sweep before any other", () => {
    const stopped = { ...THREW, endedBy: { by: "launcher", signal: "SIGINT" } } as const;
    expect(codeOf(result("completed", 3), stopped)).toBe(130);
    expect(codeOf(result("completed", 3), { ...THREW, endedBy: { by: "cancel" } })).toBe(143);
    const open = [endOfResult(DONE), undefined];
    expect(sweepExitCode(open, "SIGTERM")).toBe(143);
    // The signal came too late to end anything.
    expect(sweepExitCode([endOfResult(DONE)], "SIGTERM")).toBe(0);
  });

  test("1 for a job that ended by itself with a code that looks like that of a signal", () => {
    for (const code of [129, 130, 137, 143, 159, 160, 255])
      expect(codeOf(DONE, result("completed", code))).toBe(1);
    expect(codeOf(result("completed", 128))).toBe(128);
  });

  test.each(OTHERS)("1 for a job ended by $by, whatever its exit code", (endedBy) => {
    expect(codeOf(DONE, { ...result("completed", 143), endedBy })).toBe(1);
    expect(codeOf({ ...result("completed", 143), endedBy }, result("completed", 3))).toBe(3);
  });

  test("of a record is that of the results", () => {
    const state = begun(0, undefined);
    const end = (endedBy: Ender, exitCode: number | null) =>
      endOfState(ended(state, { endedBy, exitCode }));
    const completed = end(ITSELF, 0);
    expect(sweepExitCode([completed, completed])).toBe(0);
    expect(sweepExitCode([completed, endOfState(state)])).toBe(1);
    const late = { by: "time_limit", limit_ms: 1 } as const;
    expect(sweepExitCode([end(late, null), end(ITSELF, 4)])).toBe(4);
    expect(sweepExitCode([end(late, 143)])).toBe(1);
    expect(sweepExitCode([completed, end({ by: "launcher", signal: "SIGTERM" }, 1)])).toBe(143);
  });

  test("what a sweeper tolerates has failed, and not only come to no end", () => {
    const late = { ...THREW, endedBy: { by: "time_limit", limit_ms: 1 } } as const;
    expect(
      [THREW, result("completed", 3), result("completed", 143), late].map(isTolerated),
    ).toEqual([true, true, true, true]);
    const stopped = STOPPED.map((endedBy) => ({ ...THREW, endedBy }));
    expect([DONE, ...stopped].some(isTolerated)).toBe(false);
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

  test("a signal to the sweep stops it under any policy; an exit code or a signal to one job does not", () => {
    const policy = { kind: "continue" } as const;
    const by = (endedBy: Ender) => ({ ...result("completed", 143), endedBy });
    expect(gateAfter(policy, by({ by: "launcher", signal: "SIGTERM" }))).toEqual([false, false]);
    expect(gateAfter(policy, by({ by: "cancel" }))).toEqual([false, false]);
    expect(gateAfter(policy, result("completed", 143))).toEqual([true, true]);
    for (const ender of OTHERS) expect(gateAfter(policy, by(ender))).toEqual([true, true]);
  });
});

describe("hydra.sweeper.fail_fast of Hydra 1.4", () => {
  const policyOf = (text: string) => {
    const root = createConfig(text);
    if (root.kind !== "map") throw new Error("no map");
    return failurePolicy(root, createResolveContext());
  };

  test("stops a sweep of Hydra's own launcher", () => {
    expect(policyOf("hydra: {sweeper: {fail_fast: true}, launcher: {}}")).toEqual({
      kind: "stop",
      after: 1,
    });
    expect(policyOf("hydra: {sweeper: {fail_fast: false}, launcher: {}}")).toEqual({
      kind: "finish_batch",
    });
  });

  test("says that it launches up to all jobs, as there", async () => {
    const { run } = program({ "conf/config.yaml": "x: 0\n" }, { versionBase: "1.4" });
    const played = (...argv: readonly string[]) =>
      run(["-m", "x=1,2", ...argv], () => {
        throw new Error("boom");
      });
    const fast = await played("hydra.sweeper.fail_fast=true");
    expect(fast.stdout + fast.stderr).toContain("Launching up to 2 jobs locally");
    expect((await played()).stdout).toContain("Launching 2 jobs locally");
  });

  test("says nothing where a launcher has a policy of its own", () => {
    expect(
      policyOf("hydra: {sweeper: {fail_fast: true}, launcher: {on_failure: continue}}"),
    ).toEqual({ kind: "continue" });
  });
});
