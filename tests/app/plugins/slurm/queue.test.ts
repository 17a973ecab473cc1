import { describe, expect, test } from "vitest";
import {
  readQueueJson,
  readQueueLines,
  readShownJobs,
} from "../../../../src/app/plugins/slurm/queue.ts";
import { phaseOf, whyOver } from "../../../../src/app/plugins/slurm/task-state.ts";

describe("squeue --json", () => {
  test("as Slurm 22.05 writes it: plain values, tasks that wait in one entry", () => {
    const jobs = [
      {
        array_job_id: 7,
        array_task_id: 0,
        array_task_string: "",
        job_state: "FAILED",
        state_reason: "NonZeroExitCode",
        exit_code: 768,
      },
      {
        array_job_id: 7,
        array_task_id: null,
        array_task_string: "2-3,8-12:2%4",
        job_state: "PENDING",
        state_reason: "None",
        exit_code: 0,
      },
      { array_job_id: 0, array_task_id: null, array_task_string: "", job_state: "RUNNING" },
    ];
    const read = readQueueJson(JSON.stringify({ jobs })) ?? [];
    expect(read[0]).toEqual({
      array: "7",
      index: 0,
      state: "FAILED",
      reason: "NonZeroExitCode",
      exitCode: 3,
    });
    expect(read.slice(1).map(({ index, reason, state }) => [index, state, reason])).toEqual(
      [2, 3, 8, 10, 12].map((index) => [index, "PENDING", null]),
    );
  });

  test("as newer versions write it: states in lists, numbers in objects", () => {
    const number = (value: number) => ({ set: true, infinite: false, number: value });
    const unset = { set: false, infinite: false, number: 0 };
    const jobs = [
      {
        array_job_id: number(8),
        array_task_id: number(1),
        job_state: ["OUT_OF_MEMORY"],
        state_reason: "OutOfMemory",
        exit_code: { status: ["SIGNALED"], return_code: unset, signal: { id: number(9) } },
      },
      {
        array_job_id: number(8),
        array_task_id: unset,
        array_task_string: "2,4",
        job_state: ["PENDING"],
        state_reason: "Resources",
        exit_code: { status: ["SUCCESS"], return_code: number(0) },
      },
    ];
    const read = readQueueJson(JSON.stringify({ jobs })) ?? [];
    expect(
      read.map(({ array, exitCode, index, state }) => [array, index, state, exitCode]),
    ).toEqual([
      ["8", 1, "OUT_OF_MEMORY", 137],
      ["8", 2, "PENDING", 0],
      ["8", 4, "PENDING", 0],
    ]);
  });

  test("what is no such answer is none", () => {
    for (const text of ["", "squeue: error", "[]", "{}", '{"jobs":3}'])
      expect(readQueueJson(text)).toBeUndefined();
  });
});

test("a script that a signal ended has the code that shells tell", () => {
  const shown = (code: string) =>
    readShownJobs(`JobId=7 ArrayJobId=7 ArrayTaskId=0 JobState=FAILED ExitCode=${code}`);
  const json = (exit_code: number) =>
    readQueueJson(
      JSON.stringify({
        jobs: [{ array_job_id: 7, array_task_id: 0, job_state: "FAILED", exit_code }],
      }),
    ) ?? [];
  // In a wait status, 128 says that memory was dumped; scontrol leaves that out.
  for (const reports of [shown("0:15"), json(15), json(128 + 15)]) {
    expect(reports.map(({ exitCode }) => exitCode)).toEqual([143]);
    expect(reports.map(whyOver)).toEqual([
      "Slurm: its script ended with code 143 and the job left no result: FAILED",
    ]);
  }
  // A lack of memory, which is no signal.
  for (const [{ exitCode } = { exitCode: null }] of [shown("0:125"), json(125)])
    expect(exitCode).toBe(0);
});

test("lines of squeue, with reasons that hold anything", () => {
  expect(readQueueLines("9|1|RUNNING|None\n9|[2-3]|PENDING|a|b\n10|N/A|RUNNING|None\n\n")).toEqual([
    { array: "9", index: 1, state: "RUNNING", reason: null, exitCode: null },
    { array: "9", index: 2, state: "PENDING", reason: "a|b", exitCode: null },
    { array: "9", index: 3, state: "PENDING", reason: "a|b", exitCode: null },
  ]);
});

test("scontrol --oneliner show job", () => {
  const line =
    "JobId=12 ArrayJobId=9 ArrayTaskId=4 JobName=x JobState=NODE_FAIL Reason=NodeDown Dependency=(null) Requeue=1 ExitCode=1:9 Command=/a b/ArrayJobId=3\n";
  expect(readShownJobs(line)).toEqual([
    { array: "9", index: 4, state: "NODE_FAIL", reason: "NodeDown", exitCode: 137 },
  ]);
  expect(readShownJobs("No jobs in the system\n")).toEqual([]);
});

test("states: what waits, what runs, what is over and why", () => {
  const report = (state: string, reason: string | null = null) => ({
    array: "1",
    index: 0,
    state,
    reason,
    exitCode: 2,
  });
  expect(phaseOf(report("PENDING"))).toBe("waiting");
  expect(phaseOf(report("REQUEUED"))).toBe("waiting");
  for (const state of ["RUNNING", "COMPLETING", "SUSPENDED", "STAGE_OUT", "SIGNALING"])
    expect(phaseOf(report(state))).toBe("running");
  expect(phaseOf(report("TIMEOUT"))).toBe("over");
  expect(whyOver(report("NODE_FAIL", "NodeDown"))).toContain(
    "its node failed: NODE_FAIL (NodeDown)",
  );
  expect(whyOver(report("FAILED"))).toContain("ended with code 2");
});
