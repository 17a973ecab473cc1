import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Ender, ITSELF } from "../../../../src/app/job/ender.ts";
import {
  endOfWorker,
  FEWER_JOBS,
  memoryKills,
} from "../../../../src/app/launch/local/worker-end.ts";
import { begun, ended, type JobState } from "../../../../src/app/record/job-state.ts";
import { jobLog, jobsFolder } from "../../../../src/app/record/layout.ts";

const folder = mkdtempSync(join(tmpdir(), "hydraconf-worker-end-"));
afterAll(() => rmSync(folder, { recursive: true }));

const RUN = { folder: "/nowhere", number: 3, logStart: 0 };
const failedAfter = (took_ms: number): JobState => {
  const own = { endedBy: ITSELF, exitCode: 1, error: "its own" };
  const state = ended(begun(3, undefined), own);
  return { ...state, attempts: state.attempts.map((attempt) => ({ ...attempt, took_ms })) };
};
const EXIT = { exitCode: 1, signal: null };

/** Somebody asks for the end of a job, so many milliseconds after its start. */
const asked = (ender: Ender, state: JobState, after: number) => ({
  ender,
  uptimeMs: (state.attempts[0]?.uptime_ms ?? 0) + after,
});
const LIMIT: Ender = { by: "time_limit", limit_ms: 2000 };
const STOP: Ender = { by: "launcher", signal: "SIGINT" };

test.each([LIMIT, STOP])(
  "a job that had failed before $by asked it to end has failed by itself, also where that was late to see it",
  (ender) => {
    const state = failedAfter(500);
    expect(endOfWorker(state, EXIT, asked(ender, state, 2000), RUN)).toBeUndefined();
  },
);

test("a job that failed since it was asked to end, or was killed, took too long", () => {
  const late = {
    status: "timed_out",
    attempts: [{ ended_by: LIMIT, error: "took longer than 2 s" }],
  };
  const failed = failedAfter(2100);
  expect(endOfWorker(failed, EXIT, asked(LIMIT, failed, 2000), RUN)).toMatchObject(late);
  const killed = { exitCode: null, signal: "SIGKILL" } as const;
  const running = begun(3, undefined);
  expect(endOfWorker(running, killed, asked(LIMIT, running, 2000), RUN)).toMatchObject(late);
});

test("a job that failed as it was asked to stop is still to be done", () => {
  const state = failedAfter(500);
  expect(endOfWorker(state, EXIT, asked(STOP, state, 400), RUN)).toMatchObject({
    status: "stopped",
    attempts: [{ exit_code: 1, ended_by: STOP, error: "stopped with the sweep by SIGINT" }],
  });
});

test("a job that completed although it was asked to end is done", () => {
  const state = ended(begun(3, undefined), { endedBy: ITSELF, exitCode: 0 });
  expect(endOfWorker(state, EXIT, asked(LIMIT, state, 0), RUN)).toBeUndefined();
});

test("a job whose worker is killed from outside is still to be done; one that crashed, or for which memory did not suffice, has failed", () => {
  const stateAfter = (signal: NodeJS.Signals, lacksMemory: boolean) =>
    endOfWorker(begun(3, undefined), { exitCode: null, signal, lacksMemory }, undefined, RUN);
  for (const signal of ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const)
    expect(stateAfter(signal, false)).toMatchObject({
      status: "stopped",
      attempts: [{ exit_code: null, ended_by: { by: "signal", signal } }],
    });
  for (const signal of ["SIGSEGV", "SIGBUS", "SIGABRT"] as const)
    expect(stateAfter(signal, false)).toMatchObject({
      status: "failed",
      attempts: [{ ended_by: ITSELF }],
    });
  expect(stateAfter("SIGKILL", true)).toMatchObject({
    status: "failed",
    attempts: [
      {
        ended_by: { by: "out_of_memory" },
        error: `killed by SIGKILL: the machine ran out of memory; ${FEWER_JOBS}`,
      },
    ],
  });
  // Killed by somebody while others ran out of memory.
  expect(stateAfter("SIGTERM", true)?.status).toBe("stopped");
});

test("a worker's exit code above 128 is no signal", () => {
  const end = endOfWorker(begun(3, undefined), { exitCode: 143, signal: null }, undefined, RUN);
  expect(end).toMatchObject({ status: "failed", attempts: [{ ended_by: ITSELF, exit_code: 143 }] });
});

test("the kernel's count of processes that it killed for want of memory, where it tells that", () => {
  const file = join(folder, "vmstat");
  writeFileSync(file, "nr_free_pages 7\noom_kill 12\noom_kill_disabled 3\n");
  expect(memoryKills(file)).toBe(12);
  writeFileSync(file, "nr_free_pages 7\n");
  expect(memoryKills(file)).toBeUndefined();
  expect(memoryKills(join(folder, "none"))).toBeUndefined();
});

test("why a worker died is read from what this start logged, not from what an earlier one did", () => {
  const earlier = "Error: of before\nFATAL ERROR: JavaScript heap out of memory\n";
  mkdirSync(jobsFolder(folder), { recursive: true });
  const errorOf = (
    exit: { exitCode: number | null; signal: NodeJS.Signals | null },
    now: string,
  ) => {
    writeFileSync(jobLog(folder, 3), `${earlier}${now}`);
    const started = { ...RUN, folder, logStart: earlier.length };
    return endOfWorker(begun(3, undefined), exit, undefined, started)?.attempts[0]?.error;
  };
  const abort = { exitCode: null, signal: "SIGABRT" } as const;
  expect(errorOf(abort, "Assertion failed\n")).toBe("killed by SIGABRT");
  expect(errorOf(abort, "JavaScript heap out of memory\n")).toContain(
    "out of memory; NODE_OPTIONS",
  );
  const killed = { exitCode: null, signal: "SIGKILL" } as const;
  expect(errorOf(killed, "JavaScript heap out of memory\n")).toBe("killed by SIGKILL");
  expect(errorOf(EXIT, "Error: of now\n")).toBe("Error: of now");
  expect(errorOf(EXIT, "")).toBe("the worker did not start");
});
