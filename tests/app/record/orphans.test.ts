import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  begun,
  ended,
  type JobState,
  lookAtJob,
  readJobState,
  writeJobStart,
  writeJobState,
} from "../../../src/app/record/job-state.ts";
import { jobFile, jobsFolder } from "../../../src/app/record/layout.ts";
import {
  isLost,
  liveWorkers,
  orphanOf,
  recordOrphan,
  resumeOrphans,
  signalWorker,
} from "../../../src/app/record/orphans.ts";
import { notePruned } from "../../../src/app/record/recorded-job.ts";
import { identityOf } from "../../../src/foundation/system/process-identity.ts";
import { until } from "../../wait.ts";

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

  test("are none that a scheduler runs", () => {
    const scheduled = begunIn(0, { details: { scheduler: "7_1" } });
    expect(liveWorkers(folderWith([scheduled]), [scheduled])).toEqual([]);
  });
});

describe("processes of jobs with a damaged record", () => {
  /** Whose state is lost, with the trace of its start. */
  const damaged = (state: JobState) => {
    const folder = folderWith([]);
    writeJobStart(folder, state, {});
    writeFileSync(jobFile(folder, state.number), "{");
    return folder;
  };
  const OWN = { id: "start" };

  test("are known by the trace of its start", () => {
    expect(liveWorkers(damaged(begunIn(2, OWN)), [{ number: 2 }])).toMatchObject([
      { number: 2, alive: true, process: { pid: process.pid, id: "start" } },
    ]);
    expect(
      liveWorkers(damaged(begunIn(2, { ...OWN, ...ELSEWHERE })), [{ number: 2 }]),
    ).toMatchObject([{ number: 2, alive: "elsewhere", process: ELSEWHERE }]);
  });

  test.each([
    ["is gone", { ...OWN, ...GONE }],
    ["is that of a launcher, whose claim says whether it runs", {}],
    ["is a scheduler's", { details: { scheduler: "7_1" } }],
  ])("are none if it %s", (_, facts) => {
    expect(liveWorkers(damaged(begunIn(2, facts)), [{ number: 2 }])).toEqual([]);
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

test("a job whose process is gone is read again: it may have recorded its end meanwhile", () => {
  const folder = folderWith(states);
  for (const number of [0, 2, 3, 4])
    expect(recordOrphan(folder, number)).toEqual(lookAtJob(folder, number));
});

describe("a worker of an earlier launcher", () => {
  let worker: ChildProcess | undefined;
  afterEach(() => void worker?.kill("SIGKILL"));

  /** A process that would live for long, and the record of a job that it runs. */
  async function running() {
    const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    worker = child;
    await once(child, "spawn");
    const { pid = 0 } = child;
    const state = begunIn(0, identityOf(pid));
    const folder = folderWith([state]);
    const orphan = orphanOf(folder, 0);
    if (orphan === undefined) throw new Error("it runs");
    return { child, folder, orphan, state };
  }

  test("that is asked to end has been ended by whoever asked first", async () => {
    const { folder, orphan } = await running();
    orphan.signal("SIGTERM");
    orphan.signal("SIGINT");
    const state = await orphan.ended;
    expect(state).toMatchObject({
      status: "stopped",
      attempts: [{ ended_by: { by: "launcher", signal: "SIGTERM" }, exit_code: null }],
    });
    expect(readJobState(folder, 0)).toEqual(state);
    // It is gone: nothing is left to signal.
    orphan.signal("SIGTERM");
    expect(orphanOf(folder, 0)).toBeUndefined();
  });

  test("that the pruner ends was pruned", async () => {
    const { folder, orphan } = await running();
    notePruned(folder, 0, 5);
    orphan.signal("SIGTERM");
    expect((await orphan.ended).attempts[0]?.ended_by).toEqual({ by: "pruner", step: 5 });
  });

  test("that ends without a word was ended by somebody unknown", async () => {
    const { child, folder, orphan } = await running();
    child.kill("SIGKILL");
    expect((await orphan.ended).attempts[0]?.ended_by).toEqual({ by: "unknown" });
    expect(readJobState(folder, 0)?.status).toBe("stopped");
  });

  test("that recorded its end has that end", async () => {
    const { child, folder, orphan, state } = await running();
    const own = ended(state, { endedBy: { by: "itself" }, exitCode: 0, returnValue: 7 });
    writeJobState(folder, own);
    child.kill("SIGKILL");
    expect(await orphan.ended).toEqual(own);
    expect(readJobState(folder, 0)).toEqual(own);
  });

  test("that failed as it was asked to end has been ended by whoever asked", async () => {
    const { folder, orphan, state } = await running();
    orphan.signal("SIGTERM");
    writeJobState(folder, ended(state, { endedBy: { by: "itself" }, exitCode: 1 }));
    expect((await orphan.ended).attempts[0]?.ended_by).toEqual({
      by: "launcher",
      signal: "SIGTERM",
    });
  });

  test("whose job another launcher has started anew is none of this one's any more", async () => {
    const { child, folder, orphan, state } = await running();
    const again = begun(0, state);
    writeJobState(folder, again);
    child.kill("SIGKILL");
    expect(await orphan.ended).toEqual(state);
    expect(readJobState(folder, 0)).toEqual(again);
  });

  test("that is left to itself goes on, and is not waited for", async () => {
    const { child, folder, orphan, state } = await running();
    orphan.suspend()();
    orphan.abandon();
    expect(await orphan.ended).toEqual(state);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect(readJobState(folder, 0)).toEqual(state);
  });

  test("that was suspended with its launcher goes on", async () => {
    const { child, folder, orphan, state } = await running();
    const pid = child.pid ?? 0;
    const isStopped = () => /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    const [worker] = liveWorkers(folder, [state]);
    if (worker === undefined) return expect.unreachable("it runs");
    orphan.suspend();
    await until(isStopped);
    resumeOrphans([{ ...worker, alive: "elsewhere" }]);
    await new Promise(setImmediate);
    expect(isStopped()).toBe(true);
    resumeOrphans([worker]);
    await until(() => !isStopped());
    orphan.suspend();
    await until(isStopped);
    orphanOf(folder, 0)?.abandon();
    await until(() => !isStopped());
    orphan.abandon();
  });

  test("may have ended before it is signalled", async () => {
    const { child, orphan } = await running();
    child.kill("SIGKILL");
    await orphan.ended;
    expect(() => signalWorker(child.pid ?? 0, "SIGTERM")).not.toThrow();
  });
});
