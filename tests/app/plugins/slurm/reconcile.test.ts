import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createReconcile } from "../../../../src/app/plugins/slurm/reconcile.ts";
import {
  slurmFolder,
  slurmLog,
  tasksKnownOver,
} from "../../../../src/app/plugins/slurm/submissions.ts";
import type { TaskReport } from "../../../../src/app/plugins/slurm/task-state.ts";
import {
  begun,
  ended,
  type JobState,
  readJobState,
  writeJobState,
} from "../../../../src/app/record/job-state.ts";

const settle = (folder: string, ...over: Parameters<ReturnType<typeof createReconcile>>) =>
  createReconcile(folder)(...over);

const TASK = { number: 3, array: "7", index: 1, attempts: 0 };
const report = (state: string, exitCode: number | null = null): TaskReport => ({
  array: "7",
  index: 1,
  state,
  reason: null,
  exitCode,
});

const folderWith = (state?: JobState): string => {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-settle-"));
  if (state !== undefined) writeJobState(folder, state);
  return folder;
};
const inTask = (name: string, before?: JobState) =>
  begun(3, before, { details: { scheduler: name } });

test("a job that now runs in another task is not ended by a process that looked earlier", () => {
  const first = ended(inTask("7_1"), {
    endedBy: { by: "signal", signal: "SIGTERM" },
    exitCode: 143,
  });
  const again = inTask("9_0", first);
  const folder = folderWith(again);
  expect(settle(folder, TASK, report("FAILED", 1))).toBe("recorded already");
  expect(readJobState(folder, 3)).toEqual(again);
  const local = begun(3, first, { id: "a start on this machine" });
  writeJobState(folder, local);
  expect(settle(folder, TASK, undefined)).toBe("recorded already");
  expect(readJobState(folder, 3)).toEqual(local);
});

test("a job that another task completed stays completed, though a second task found nothing to run", () => {
  const running = inTask("5_0");
  const completed = ended(running, { endedBy: { by: "itself" }, exitCode: 0 });
  const folder = folderWith(completed);
  expect(completed.status).toBe("completed");
  // Submitted while the first task ran, by a launcher that did not find it.
  const second = { ...TASK, attempts: running.attempts.length };
  expect(settle(folder, second, report("COMPLETED", 0))).toEqual({ kind: "ended" });
  expect(readJobState(folder, 3)).toEqual(completed);
  expect([...tasksKnownOver(folder)]).toEqual(["7_1"]);
});

test("a job that said itself that it was stopped is not failed by the code of its script", () => {
  const stopped = ended(inTask("7_1"), {
    endedBy: { by: "signal", signal: "SIGTERM" },
    exitCode: 143,
    error: "stopped",
  });
  const folder = folderWith(stopped);
  expect(settle(folder, TASK, report("FAILED", 143))).toEqual({ kind: "ended" });
  expect(readJobState(folder, 3)).toEqual(stopped);
  expect(settle(folder, TASK, report("TIMEOUT"))).toEqual({ kind: "ended" });
  expect(readJobState(folder, 3)?.status).toBe("timed_out");
});

/** As Slurm 22.05 writes it into the file of `--output` of a task. */
const cancelled = (cause: string) =>
  `slurmstepd-vm: error: *** JOB 8 ON vm CANCELLED AT 2026-11-23T01:44:56${cause} ***\n`;

test.each([
  [" DUE TO TIME LIMIT", "timed_out", "Slurm: it ran out of time: TIMEOUT"],
  [" DUE TO PREEMPTION", "stopped", "Slurm: it was preempted and not requeued: PREEMPTED"],
  [
    " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS",
    "stopped",
    "Slurm: its node failed: NODE_FAIL",
  ],
  ["", "stopped", "Slurm: it was cancelled"],
])("what Slurm has forgotten is told by its own log: '%s'", (cause, status, why) => {
  const folder = folderWith(inTask("7_1"));
  mkdirSync(slurmFolder(folder));
  writeFileSync(slurmLog(folder, TASK), cancelled(cause));
  expect(settle(folder, TASK, undefined)).toEqual({ kind: "ended" });
  const state = readJobState(folder, 3);
  expect(state?.status).toBe(status);
  expect(state?.attempts[0]?.error).toMatch(`${why}: slurmstepd`);
});

/** A sweep whose task began, and Slurm has forgotten it: what stands in Slurm's own log, and in the job's. */
function forgotten(script: string, { before = inTask("7_1"), job = "" } = {}) {
  const folder = folderWith(before);
  const logs = join(folder, "logs");
  mkdirSync(logs);
  mkdirSync(slurmFolder(folder));
  writeFileSync(slurmLog(folder, TASK), script);
  writeFileSync(join(logs, "7_1_0_log.err"), job);
  const outcome = settle(folder, { ...TASK, logs }, undefined);
  return { folder, outcome, state: readJobState(folder, 3) };
}

/** As the script of a task says it. */
const scriptEnd = (code: number) => `hydraconf: job #3 (7_1) ended with code ${code}\n`;

test.each([
  [137, "failed"],
  [7, "failed"],
  [143, "stopped"],
  [130, "stopped"],
])("a job that Slurm has forgotten ended as its script says: with %i it has %s", (code, status) => {
  const { state } = forgotten(scriptEnd(code));
  expect([state?.status, state?.attempts[0]]).toEqual([
    status,
    expect.objectContaining({
      exit_code: code,
      error: `Slurm: its script ended with code ${code} and the job left no result: FAILED`,
    }),
  ]);
});

test("what Slurm itself said of a forgotten job stands beside the code of its script", () => {
  const said = "slurmstepd: error: _get_pss: fclose failed";
  const { state } = forgotten(`${said}\n${scriptEnd(137)}`);
  expect(state?.attempts[0]?.error).toBe(
    `Slurm: its script ended with code 137 and the job left no result: FAILED: ${said}`,
  );
});

// A task may start steps of its own, and go on after one of them failed.
test.each([
  "srun: error: n1: task 0: Exited with exit code 7\nepoch 2\n",
  "srun: error: n1: task 0: Exited with exit code 7\n",
])("what srun wrote into the log of a job is no end of it: %j", (job) => {
  expect(forgotten("", { job }).state).toMatchObject({
    status: "stopped",
    attempts: [{ exit_code: null, error: "Slurm no longer knows it, and it left no result" }],
  });
});

test.each([143, 137])("what a forgotten job said itself of its end stays: %i", (code) => {
  const stopped = ended(inTask("7_1"), {
    endedBy: { by: "signal", signal: "SIGTERM" },
    exitCode: 143,
    error: "stopped",
  });
  const { outcome, state } = forgotten(scriptEnd(code), { before: stopped });
  expect(outcome).toEqual({ kind: "ended" });
  expect(state).toEqual(stopped);
});

test("an earlier run's end is not that of the last one", () => {
  const again = "hydraconf: job #3 (7_1) runs again\n";
  expect(forgotten(`${scriptEnd(1)}${again}`).state?.status).toBe("stopped");
  expect(forgotten(`${scriptEnd(143)}${again}${scriptEnd(1)}`).state?.status).toBe("failed");
});

/** A job that began ten minutes ago, whose log was written last after so many seconds. */
function lookedAtLate(log: string, seconds: number, known?: TaskReport) {
  const started = Date.now() - 600_000;
  const running = inTask("7_1");
  const attempts = running.attempts.map((one) => ({
    ...one,
    started: new Date(started).toISOString(),
    uptime_ms: (one.uptime_ms ?? 0) - 600_000,
  }));
  const folder = folderWith({ ...running, attempts });
  mkdirSync(slurmFolder(folder));
  writeFileSync(slurmLog(folder, TASK), log);
  const written = new Date(started + seconds * 1000);
  utimesSync(slurmLog(folder, TASK), written, written);
  settle(folder, TASK, known);
  const last = readJobState(folder, 3)?.attempts.at(-1);
  const took = (last?.took_ms ?? 0) / 1000;
  expect(Date.parse(last?.ended ?? "") - started).toBeCloseTo(took * 1000, -3);
  return took;
}

test("a job that could not say its end has run until its log was written, not until somebody looked", () => {
  expect(lookedAtLate(scriptEnd(137), 100)).toBe(100);
  expect(lookedAtLate(scriptEnd(137), 100, report("FAILED", 137))).toBe(100);
  expect(lookedAtLate(cancelled(" DUE TO TIME LIMIT"), 60)).toBe(60);
  expect(lookedAtLate(cancelled(" DUE TO TIME LIMIT"), 60, report("TIMEOUT"))).toBe(60);
});

test("until somebody looked where its log does not tell its end, or the clock of its disk is another", () => {
  expect(lookedAtLate("slurmstepd: error: _get_pss\n", 100, report("FAILED", 1))).toBeGreaterThan(
    599,
  );
  expect(lookedAtLate(scriptEnd(137), -5)).toBeGreaterThan(599);
  expect(lookedAtLate(scriptEnd(137), 3600)).toBeLessThan(660);
});

test("a job that could say itself that it was stopped has run out of time all the same", () => {
  const folder = folderWith(
    ended(inTask("7_1"), { endedBy: { by: "signal", signal: "SIGTERM" }, exitCode: 143 }),
  );
  mkdirSync(slurmFolder(folder));
  const log = slurmLog(folder, TASK);
  writeFileSync(log, cancelled(" DUE TO TIME LIMIT"));
  settle(folder, TASK, undefined);
  expect(readJobState(folder, 3)?.status).toBe("timed_out");
  // That was an earlier run.
  writeJobState(folder, inTask("7_1"));
  writeFileSync(log, `${cancelled(" DUE TO TIME LIMIT")}hydraconf: job #3 (7_1) runs again\n`);
  settle(folder, TASK, undefined);
  expect(readJobState(folder, 3)?.attempts[0]?.error).toBe(
    "Slurm no longer knows it, and it left no result",
  );
});

test("why a job was stopped that can only say by which signal is added to its word", () => {
  const folder = folderWith(
    ended(inTask("7_1"), {
      endedBy: { by: "signal", signal: "SIGTERM" },
      exitCode: 143,
      error: "stopped by SIGTERM",
    }),
  );
  expect(settle(folder, TASK, report("PREEMPTED", 0))).toEqual({ kind: "ended" });
  expect(readJobState(folder, 3)).toMatchObject({
    status: "stopped",
    attempts: [
      {
        error: "stopped by SIGTERM; Slurm: it was preempted and not requeued: PREEMPTED",
        exit_code: 143,
      },
    ],
  });
});

test("and added once, however often it is looked at", () => {
  const folder = folderWith(
    ended(inTask("7_1"), { endedBy: { by: "signal", signal: "SIGTERM" }, exitCode: 143 }),
  );
  settle(folder, TASK, report("PREEMPTED", 0));
  const told = readJobState(folder, 3);
  settle(folder, TASK, report("PREEMPTED", 0));
  expect(readJobState(folder, 3)).toEqual(told);
});

test("a task that is over is noted so, also where its job never began", () => {
  const folder = folderWith();
  expect(settle(folder, TASK, report("CANCELLED"))).toMatchObject({ kind: "dropped" });
  expect([...tasksKnownOver(folder)]).toEqual(["7_1"]);
  expect(readJobState(folder, 3)).toBeUndefined();
});

test("the code of a script that ended well is none of a job that failed", () => {
  const folder = folderWith(inTask("7_1"));
  settle(folder, TASK, report("COMPLETED", 0));
  expect(readJobState(folder, 3)).toMatchObject({
    status: "failed",
    attempts: [{ exit_code: null }],
  });
});

test.each([129, 130, 143])(
  "a script that was told to end before its job could say so has not failed: %i",
  (code) => {
    const folder = folderWith(inTask("7_1"));
    settle(folder, TASK, report("FAILED", code));
    expect(readJobState(folder, 3)).toMatchObject({
      status: "stopped",
      attempts: [{ exit_code: code }],
    });
  },
);

describe("a job that ran out of memory is told with what lets it have more", () => {
  const MEMORY =
    "out of memory: it used more than Slurm allotted; hydra.launcher.mem_gb=GB gives each job more";
  const HEAP =
    "out of memory: Node's heap is full; NODE_OPTIONS=--max-old-space-size=MB gives each job more";
  const V8 =
    "<--- JS stacktrace --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb78db3 node\nsrun: error: vm: task 0: Aborted\n";

  /** A sweep whose task began, with what it logged and what Slurm itself wrote of it. */
  function ranOut(said: string, { log = "7_1_0_log.err", slurm = "" } = {}) {
    const folder = folderWith(inTask("7_1"));
    const logs = join(folder, "logs of %A", "%a");
    mkdirSync(join(folder, "logs of 7", "1"), { recursive: true });
    writeFileSync(join(folder, "logs of 7", "1", log), said);
    mkdirSync(slurmFolder(folder));
    writeFileSync(slurmLog(folder, TASK), slurm);
    return { folder, task: { ...TASK, logs } };
  }

  const endOf = (folder: string) => {
    const state = readJobState(folder, 3);
    return [state?.status, state?.attempts[0]?.error];
  };

  test("by Slurm's word for it", () => {
    const folder = folderWith(inTask("7_1"));
    expect(settle(folder, TASK, report("OUT_OF_MEMORY", 0))).toEqual({ kind: "ended" });
    expect(endOf(folder)).toEqual(["failed", MEMORY]);
    const early = folderWith();
    expect(settle(early, TASK, report("OUT_OF_MEMORY", 0))).toEqual({ kind: "ended" });
    expect(endOf(early)).toEqual(["failed", MEMORY]);
  });

  test.each([
    "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0. Some of your processes may have been killed by the cgroup out-of-memory handler.",
    "slurmstepd-n1: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have been OOM Killed.",
    "srun: error: n1: task 0: Out Of Memory",
    "slurmstepd-vm: error: StepId=7.0 exceeded memory limit (311812096 > 157286400), being killed",
    "slurmstepd-vm: error: Exceeded job memory limit",
  ])("where Slurm says in a log: %s", (line) => {
    const job = ranOut(`before\n${line}\nafter\n`);
    expect(settle(job.folder, job.task, report("FAILED", 137))).toEqual({ kind: "ended" });
    expect(endOf(job.folder)).toEqual(["failed", MEMORY]);
    const own = ranOut("before\n", { slurm: line });
    settle(own.folder, own.task, report("FAILED", 137));
    expect(endOf(own.folder)).toEqual(["failed", MEMORY]);
  });

  test.each([
    ["mem_per_cpu", "mem_per_cpu=SIZE"],
    ["additional_parameters.mem", "additional_parameters.mem=SIZE"],
    ["mem_gb", "mem_gb=GB"],
  ])("by the key that was set: %s", (memory_key, remedy) => {
    const folder = folderWith(inTask("7_1"));
    settle(folder, { ...TASK, memory_key }, report("OUT_OF_MEMORY", 0));
    expect(endOf(folder)).toEqual(["failed", MEMORY.replace("mem_gb=GB", remedy)]);
  });

  test.each(["7_1_0_log.err", "7_1_0_log.out", "7_1_1_log.err"])(
    "where V8 says in %s that its heap is full, also if Slurm has forgotten the task",
    (log) => {
      for (const word of [report("FAILED", 134), undefined]) {
        const { folder, task } = ranOut(V8, { log });
        expect(settle(folder, task, word)).toEqual({ kind: "ended" });
        expect(endOf(folder)).toEqual(["failed", HEAP]);
      }
    },
  );

  test("also if it was told to end before it was killed, and says that it was stopped", () => {
    const { folder, task } = ranOut(
      "slurmstepd-vm: error: StepId=7.0 exceeded memory limit (3 > 1), being killed\n",
    );
    writeJobState(
      folder,
      ended(inTask("7_1"), {
        endedBy: { by: "signal", signal: "SIGTERM" },
        exitCode: 143,
        error: "s",
      }),
    );
    expect(settle(folder, task, report("FAILED", 143))).toEqual({ kind: "ended" });
    expect(endOf(folder)).toEqual(["failed", MEMORY]);
  });

  test.each([
    ["hydraconf: job #3 (7_1) runs again", "slurmstepd-n1: error: *** STEP 9.0 CANCELLED ***"],
    ["hydraconf: job #3 (7_1) is queued again", ""],
  ])("and not where an earlier run of its task did, before: %s", (line, after) => {
    const oom = "slurmstepd-n1: error: Detected 1 oom_kill event in StepId=7.0.\n";
    for (const said of [V8, oom])
      for (const [word, status] of [
        [undefined, "stopped"],
        [report("FAILED", 1), "failed"],
      ] as const) {
        const { folder, task } = ranOut(`${said}${line}\n${after}\n`, {
          slurm: `${oom}${line}\n${after}\n`,
        });
        settle(folder, task, word);
        expect(endOf(folder)).toEqual([
          status,
          expect.not.stringMatching(/memory|oom|hydraconf: job/),
        ]);
      }
    const again = ranOut(`before\n${line}\n${V8}`);
    settle(again.folder, again.task, undefined);
    expect(endOf(again.folder)).toEqual(["failed", HEAP]);
  });

  test("and one that was cancelled, or whose program speaks of memory, is not", () => {
    const cancelled = ranOut(V8);
    settle(cancelled.folder, cancelled.task, report("CANCELLED"));
    expect(endOf(cancelled.folder)).toEqual(["stopped", "Slurm: it was cancelled"]);
    const cuda = ranOut("torch.OutOfMemoryError: CUDA out of memory. Out Of Memory\n");
    settle(cuda.folder, cuda.task, report("FAILED", 1));
    expect(endOf(cuda.folder)).toEqual([
      "failed",
      "Slurm: its script ended with code 1 and the job left no result: FAILED",
    ]);
  });
});
