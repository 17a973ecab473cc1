import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { endOfWorker, FEWER_JOBS, memoryKills } from "../../../src/launch/local/worker-end.ts";
import { begun, ended, type JobState } from "../../../src/record/job-state.ts";
import { jobLog, jobsFolder } from "../../../src/record/layout.ts";

const folder = mkdtempSync(join(tmpdir(), "hydraconf-worker-end-"));
afterAll(() => rmSync(folder, { recursive: true }));

const RUN = { folder: "/nowhere", number: 3, timeLimit: 2000, logStart: 0 };
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

test("a job whose worker is killed from outside is still to be done; one that crashed, or for which memory did not suffice, has failed", () => {
  const statusAfter = (signal: NodeJS.Signals, lacksMemory: boolean) =>
    endOfWorker(begun(3, undefined), { exitCode: null, signal, lacksMemory }, undefined, RUN);
  for (const signal of ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const)
    expect(statusAfter(signal, false)).toEqual({
      ...{ status: "stopped", exitCode: null, error: `killed by ${signal}` },
    });
  for (const signal of ["SIGSEGV", "SIGBUS", "SIGABRT"] as const)
    expect(statusAfter(signal, false)?.status).toBe("failed");
  expect(statusAfter("SIGKILL", true)).toMatchObject({
    ...{
      status: "failed",
      error: `killed by SIGKILL: the machine ran out of memory; ${FEWER_JOBS}`,
    },
  });
  // Killed by somebody while others ran out of memory.
  expect(statusAfter("SIGTERM", true)?.status).toBe("stopped");
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
    return endOfWorker(begun(3, undefined), exit, undefined, started)?.error;
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
