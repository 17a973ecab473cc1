import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  createQueue,
  readQueueJson,
  readQueueLines,
  readShownJobs,
  slurmCommands,
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

  test("jobs of no array are left out, whatever index they have", () => {
    for (const array_job_id of [0, null, { set: true, number: 0 }, { set: false, number: 7 }])
      for (const task of [{ array_task_id: 0 }, { array_task_string: "1-2" }])
        expect(readQueueJson(JSON.stringify({ jobs: [{ array_job_id, ...task }] }))).toEqual([]);
  });

  test("an exit code that is not told is none", () => {
    const codes = [
      undefined,
      null,
      {},
      { return_code: { set: false, number: 3 } },
      { return_code: 3 },
    ];
    const jobs = codes.map((exit_code) => ({ array_job_id: 7, array_task_id: 0, exit_code }));
    const read = readQueueJson(JSON.stringify({ jobs }));
    expect(read?.map(({ exitCode }) => exitCode)).toEqual([null, null, null, null, 3]);
  });

  test("the older name of a signal, and a description before a reason", () => {
    const job = {
      ...{ array_job_id: 7, array_task_id: 3, job_state: "FAILED", state_reason: "None" },
      state_description: "Node failed",
      exit_code: { signal: { signal_id: 15 } },
    };
    expect(readQueueJson(JSON.stringify({ jobs: [job] }))).toEqual([
      { array: "7", index: 3, state: "FAILED", reason: "Node failed", exitCode: 143 },
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

test("lines of squeue: only those of arrays, with every index of their tasks", () => {
  const indicesOf = (indices: string) =>
    readQueueLines(`12|${indices}|PENDING|None`).map(({ index }) => index);
  expect(indicesOf("10")).toEqual([10]);
  expect(indicesOf("8-12")).toEqual([8, 9, 10, 11, 12]);
  expect(indicesOf("[0-30:10,35%2]")).toEqual([0, 10, 20, 30, 35]);
  for (const none of ["", "N/A", "a1", "1a", "1-2b", "-1"]) expect(indicesOf(none)).toEqual([]);
  for (const array of ["", "a9", "9a", "JOBID"])
    expect(readQueueLines(`${array}|1|RUNNING|None`)).toEqual([]);
  expect(readQueueLines("  12|3|RUNNING|(null)\r\n")).toEqual([
    { array: "12", index: 3, state: "RUNNING", reason: null, exitCode: null },
  ]);
});

test("scontrol --oneliner show job, without some of its fields", () => {
  expect(readShownJobs("ArrayJobId=9 ArrayTaskId=2-3\nArrayTaskId=4 JobState=RUNNING\n")).toEqual(
    [2, 3].map((index) => ({ array: "9", index, state: "", reason: null, exitCode: null })),
  );
  const codes = ["0:64", "3:65", "3", "0:0"].map(
    (code) => `ArrayJobId=9 ArrayTaskId=1 ExitCode=${code}`,
  );
  expect(readShownJobs(codes.join("\n")).map(({ exitCode }) => exitCode)).toEqual([192, 3, 3, 0]);
});

type Answer = Awaited<ReturnType<Parameters<typeof createQueue>[0]>>;

const answer = (facts: Partial<Answer>): Answer =>
  ({ failed: false, stdout: "", stderr: "", ...facts }) as Answer;

describe("the queue", () => {
  const NO = answer({ failed: true });
  const json = (...jobs: readonly object[]): Answer => answer({ stdout: JSON.stringify({ jobs }) });
  const running = (array: number) => ({
    array_job_id: array,
    array_task_id: 0,
    job_state: "RUNNING",
  });
  const lines = answer({ stdout: "7|0|RUNNING|None\n" });
  const report = { array: "7", index: 0, state: "RUNNING", reason: null, exitCode: null };

  /** Asks twice for the array 7; what each answered, and how Slurm was asked. */
  async function askTwice(answerTo: (isJson: boolean) => Answer) {
    const asked: string[] = [];
    const queue = createQueue(async (command, args) => {
      const isJson = args.includes("--json");
      expect(command).toBe("squeue");
      expect(args).toContain("--jobs=7");
      if (!isJson) expect(args).toEqual(expect.arrayContaining(["--array", "--states=all"]));
      asked.push(isJson ? "json" : "lines");
      return answerTo(isJson);
    });
    return { answers: [await queue(["7"]), await queue(["7"])], asked };
  }

  test("is asked for JSON, of which only the arrays that were asked for count", async () => {
    const { answers, asked } = await askTwice(() => json(running(8), running(7)));
    expect(answers).toEqual([[report], [report]]);
    expect(asked).toEqual(["json", "json"]);
  });

  test("is asked for lines once its JSON was long and mostly about others", async () => {
    const others = Array.from({ length: 20_000 }, (_, at) => running(at + 100));
    const { answers, asked } = await askTwice((isJson) =>
      isJson ? json(running(7), ...others) : lines,
    );
    expect(answers).toEqual([[report], [report]]);
    expect(asked).toEqual(["json", "lines"]);
    // However long an answer is that is about these jobs alone, it is asked for again.
    const own = Array.from({ length: 20_000 }, () => running(7));
    expect((await askTwice(() => json(...own))).asked).toEqual(["json", "json"]);
  });

  test.each([
    "squeue: unrecognized option '--json'",
    "squeue: error: Invalid option",
    "squeue: fatal: Unable to find plugin: serializer/json",
  ])("is asked for lines from then on where it has no JSON: %s", async (stderr) => {
    const { answers, asked } = await askTwice((isJson) => (isJson ? { ...NO, stderr } : lines));
    expect(answers).toEqual([[report], [report]]);
    expect(asked).toEqual(["json", "lines", "lines"]);
  });

  test("is asked for JSON again after a failure that says nothing about it", async () => {
    const { answers, asked } = await askTwice((isJson) =>
      isJson ? { ...NO, stderr: "Socket timed out" } : lines,
    );
    expect(answers).toEqual([[report], [report]]);
    expect(asked).toEqual(["json", "lines", "json", "lines"]);
  });

  test("has no answer where it was given up, and is not asked in the other format", async () => {
    const { answers, asked } = await askTwice(() => ({ ...NO, isGivenUp: true }));
    expect(answers).toEqual([undefined, undefined]);
    expect(asked).toEqual(["json", "json"]);
  });

  test("is empty where the jobs have left it, and has no answer where it fails otherwise", async () => {
    const told = (stderr: string) => askTwice(() => ({ ...NO, stderr }));
    const forgotten = await told("slurm_load_jobs error: Invalid job id specified");
    expect(forgotten.answers).toEqual([[], []]);
    expect((await told("Unable to contact slurm controller")).answers).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe("Slurm's commands", () => {
  function commands(script: string) {
    const folder = mkdtempSync(join(tmpdir(), "hydraconf-slurm-"));
    writeFileSync(join(folder, "squeue"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return slurmCommands({
      PATH: `${folder}:/usr/bin:/bin`,
      SLURM_CONF: "/etc/slurm.conf",
      SLURM_JOB_ID: "7",
      SRUN_CPUS_PER_TASK: "4",
      SLURMD_NODENAME: "n1",
      MY_SLURM_JOB: "kept",
    });
  }

  test("do not see the job that this process is in, and list indices whole", async () => {
    const { failed, stdout } = await commands(
      "env | grep -E '^[A-Z_]*(SLURM|SRUN)' | sort; echo $#",
    )("squeue", ["a b"]);
    expect(failed).toBe(false);
    expect(stdout.trimEnd().split("\n")).toEqual([
      "MY_SLURM_JOB=kept",
      "SLURM_BITSTR_LEN=0",
      "SLURM_CONF=/etc/slurm.conf",
      "SLURM_TIME_FORMAT=standard",
      "1",
    ]);
  });

  test("may fail, and may be missing", async () => {
    const call = commands("echo no >&2; exit 3");
    expect(await call("squeue", [])).toMatchObject({
      failed: true,
      exitCode: 3,
      stderr: expect.stringMatching(/^no\n?$/),
    });
    await expect(call("no-such-command", [])).rejects.toMatchObject({ code: "slurm/missing" });
  });

  test("are given up when nobody waits for them any more, also where they do not end", async () => {
    const call = commands("trap '' TERM; while :; do sleep 1; done");
    expect(await call("squeue", [], AbortSignal.abort())).toMatchObject({ isGivenUp: true });
    const controller = new AbortController();
    const asked = call("squeue", [], controller.signal);
    controller.abort();
    expect(await asked).toMatchObject({ failed: true, isGivenUp: true });
  });
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
