import { spawn } from "node:child_process";
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { SweepJob } from "../../../../src/app/job/plan-job.ts";
import type { LauncherRequest } from "../../../../src/app/launch/launcher.ts";
import type { LocalSettings } from "../../../../src/app/launch/local/local-settings.ts";
import { createWorkers, startJob } from "../../../../src/app/launch/local/worker-process.ts";
import {
  begun,
  ended,
  hasEnded,
  type JobState,
  readJobState,
  writeJobState,
} from "../../../../src/app/record/job-state.ts";
import { jobFile, jobLog, jobsFolder, slotsFolder } from "../../../../src/app/record/layout.ts";
import { holderOf } from "../../../../src/foundation/system/process-claim.ts";
import { identityOf, isRunning } from "../../../../src/foundation/system/process-identity.ts";
import type { Suspendable } from "../../../../src/foundation/system/process-signals.ts";
import { until } from "../../../wait.ts";
import { endWorkersAfterEach, eventsOf, reusedWorker, sweepOf, told } from "./shell-sweep.ts";

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** A sweep whose only job runs in a worker that an earlier launcher left. */
function leftRunning() {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-left-"));
  mkdirSync(jobsFolder(folder));
  const worker = spawn("sleep", ["600"], { stdio: "ignore" });
  const state = begun(0, undefined);
  const attempts = state.attempts.map((one) => ({ ...one, ...identityOf(worker.pid ?? 0) }));
  const running = { ...state, attempts };
  writeJobState(folder, running);
  return {
    folder,
    /** Its worker records the end, and is gone. */
    complete() {
      writeJobState(folder, ended(running, { endedBy: { by: "itself" }, exitCode: 0 }));
      worker.kill("SIGKILL");
      while (isRunning(identityOf(worker.pid ?? 0)) === true);
    },
  };
}

/** Does something after the record of the job was read so many times. */
function afterReading(folder: string, times: number, act: () => void): void {
  const read = fs.readFileSync;
  let count = 0;
  vi.spyOn(fs, "readFileSync").mockImplementation(((file: string, ...rest: [BufferEncoding]) => {
    const text = read(file, ...rest);
    if (String(file).startsWith(folder) && ++count === times) act();
    return text;
  }) as typeof fs.readFileSync);
  syncBuiltinESMExports();
}

test.each([1, 2, 3])("a job that ends after look %i at it is not run again", async (looks) => {
  const { complete, folder } = leftRunning();
  afterReading(folder, looks, complete);
  const record = {
    folder,
    endedSince: () => (hasEnded(readJobState(folder, 0)) ? "what it came to" : undefined),
    facts: () => ({ directory: folder }),
  };
  const pool = { take: () => expect.unreachable("it is run again") };
  const start = startJob(
    { number: 0 } as SweepJob,
    true,
    { pool, workers: createWorkers({ isReusing: false }), most: 1 },
    { internals: { record } } as unknown as LauncherRequest,
    {} as LocalSettings,
  );
  if (start.kind === "over") return expect(start.result).toBe("what it came to");
  if (start.kind !== "running") return expect.unreachable(start.kind);
  if (readJobState(folder, 0)?.status === "running") complete();
  expect(await start.running.worker.ended).toMatchObject({ status: "completed" });
});

endWorkersAfterEach();

/** In the shell of a worker: waits for a file. */
const hold = (name: string) => `while ! [ -e ${name} ]; do sleep 0.02; done`;

/** The processes of the attempts at a job. */
const pidsOf = (state: JobState | undefined) => state?.attempts.map(({ pid }) => pid);

/** The numbers of the files that a launcher's workers share their logs by. */
const draftsIn = (folder: string) =>
  readdirSync(jobsFolder(folder)).filter((name) => /^\./.test(name));

describe("a worker that is kept", () => {
  const REUSED = { n_jobs: 1, reuse_workers: true };
  /** As jobs have their ends recorded: by their workers. */
  const recorded = (sweep: ReturnType<typeof sweepOf>) =>
    Object.assign(sweep.request, { resultOf: ({ number }: SweepJob) => sweep.state(number) });

  test("runs one job after the other, each with its own log, and ends with the launcher", async () => {
    const sweep = sweepOf(reusedWorker(`echo "I am $n"; echo $$ >> pids`), REUSED);
    recorded(sweep);
    const launcher = sweep.open();
    expect(await told(eventsOf(launcher, sweep.jobs(3)))).toEqual(
      [0, 1, 2].flatMap((number) => [`started ${number}`, `ended ${number}`]),
    );
    const [pid = 0] = pidsOf(sweep.state(0)) ?? [];
    expect(sweep.read("pids")).toBe(`${pid}\n`.repeat(3));
    expect([0, 1, 2].map(sweep.log)).toEqual(["I am 0\n", "I am 1\n", "I am 2\n"]);
    expect([1, 2].map((number) => pidsOf(sweep.state(number)))).toEqual([[pid], [pid]]);
    expect(isRunning(identityOf(pid))).toBe(true);
    expect(draftsIn(sweep.folder)).toHaveLength(1);
    launcher.close?.();
    await until(() => isRunning(identityOf(pid)) === false);
    expect(draftsIn(sweep.folder)).toEqual([]);
  });

  test("is none without the setting, unless the program wants it", async () => {
    const script = `echo "\${HYDRACONF_WORKER_REUSED-no} \${NODE_CHANNEL_FD-no}" > said; ${reusedWorker(":")}`;
    const said = async (setting: boolean | null, reusesWorkers: boolean) => {
      const sweep = sweepOf(script, { ...REUSED, reuse_workers: setting }, { reusesWorkers });
      const launcher = sweep.open();
      await told(eventsOf(launcher, sweep.jobs(1)));
      launcher.close?.();
      return sweep.read("said");
    };
    const kept = expect.stringMatching(/^1 \d$/m);
    expect([
      await said(null, false),
      await said(false, true),
      await said(null, true),
      await said(true, false),
    ]).toEqual(["no no\n", "no no\n", kept, kept]);
  });

  test("that ends between two batches is replaced", async () => {
    const sweep = sweepOf(
      reusedWorker(`[ $n != 0 ] || { echo '{"done":0}' >&3; exit 0; }`),
      REUSED,
    );
    recorded(sweep);
    const launcher = sweep.open();
    const [first, ...others] = sweep.jobs(3);
    if (first === undefined) return expect.unreachable("there are three");
    await told(eventsOf(launcher, [first]));
    const [pid = 0] = pidsOf(sweep.state(0)) ?? [];
    // Then this process has been told of its end.
    await until(() => !existsSync(`/proc/${pid}`));
    expect(await told(eventsOf(launcher, others))).toEqual(
      [1, 2].flatMap((number) => [`started ${number}`, `ended ${number}`]),
    );
    const [[next], [last]] = [1, 2].map((number) => pidsOf(sweep.state(number)) ?? []) as [
      number[],
      number[],
    ];
    expect(next).not.toBe(pid);
    expect(last).toBe(next);
    expect(draftsIn(sweep.folder)).toHaveLength(1);
    launcher.close?.();
  });

  test("that ends before it begins a job costs that one nothing, and no retry", async () => {
    // It is sent the job, and answers nothing.
    const script = reusedWorker(
      `echo "I am $n"; [ $n != 0 ] || { echo '{"done":0}' >&3; read -r next <&3; exit 0; }; [ $n != 1 ] || exit 3`,
    );
    const sweep = sweepOf(script, { ...REUSED, max_retries: 1 });
    recorded(sweep);
    const launcher = sweep.open();
    expect(await told(eventsOf(launcher, sweep.jobs(2)))).toEqual([
      ...["started 0", "ended 0", "started 1", "started 1"],
      ...["retried 1", "started 1", "ended 1"],
    ]);
    expect(sweep.state(1)?.attempts.map(({ exit_code }) => exit_code)).toEqual([3, 3]);
    expect(sweep.log(1)).toBe("I am 1\nI am 1\n");
    launcher.close?.();
  });

  test("is for jobs of its own environment, and the oldest goes where there are more than may run", async () => {
    const sweep = sweepOf(reusedWorker("echo $$ $CUDA_VISIBLE_DEVICES >> ran"), REUSED);
    recorded(sweep);
    const ofGpu = [1, 2, 1, 1, 2].map((gpu) => ({ resources: { gpu: [gpu] } }));
    const launcher = sweep.open();
    await told(eventsOf(launcher, sweep.jobs(5, ofGpu)));
    const ran = sweep.read("ran").trimEnd().split("\n");
    expect(ran.map((line) => Number(line.split(" ")[1]))).toEqual([1, 2, 1, 1, 2]);
    const pids = ran.map((line) => Number(line.split(" ")[0]));
    expect(pids[3]).toBe(pids[2]);
    expect(new Set(pids).size).toBe(4);
    // The last one waits, and no other.
    await until(() => pids.slice(0, 4).every((pid) => isRunning(identityOf(pid)) === false));
    expect(isRunning(identityOf(pids[4] ?? 0))).toBe(true);
    launcher.close?.();
    await until(() => isRunning(identityOf(pids[4] ?? 0)) === false);
  });

  test("hears only of its own job", async () => {
    const other = `echo '{"done":7}' >&$NODE_CHANNEL_FD; touch began-$n; ${hold("may-$n")}`;
    const sweep = sweepOf(reusedWorker(other), REUSED);
    recorded(sweep);
    const launcher = sweep.open();
    const events = eventsOf(launcher, sweep.jobs(2));
    await events.next();
    const isOver = vi.fn();
    const next = events.next().finally(isOver);
    await until(() => sweep.has("began-0"));
    // What it sent before that has been read in the meantime.
    for (let round = 0; round < 3; round++) await new Promise((done) => setImmediate(done));
    expect(isOver).not.toHaveBeenCalled();
    sweep.write("may-0");
    expect(await next).toMatchObject({ value: { kind: "ended", job: { number: 0 } } });
    sweep.write("may-1");
    expect(await told(events)).toEqual(["started 1", "ended 1"]);
    launcher.close?.();
  });

  test("runs no other job once one has failed in it, or has written much", async () => {
    const script = reusedWorker(
      `echo $$ >> pids; [ $n != 0 ] || exit 3; [ $n != 1 ] || head -c 17000000 /dev/zero`,
    );
    const sweep = sweepOf(script, REUSED);
    recorded(sweep);
    const launcher = sweep.open();
    await told(eventsOf(launcher, sweep.jobs(4)));
    const pids = sweep.read("pids").trimEnd().split("\n");
    expect(new Set(pids.slice(0, 3)).size).toBe(3);
    expect(pids[3]).toBe(pids[2]);
    expect(sweep.state(0)).toMatchObject({ status: "failed", attempts: [{ exit_code: 3 }] });
    expect(statSync(jobLog(sweep.folder, 1)).size).toBe(17_000_000);
    launcher.close?.();
  });

  test("that ends in its second job has run that one", async () => {
    const sweep = sweepOf(reusedWorker("echo $$ >> pids; [ $n != 1 ] || exit 4"), REUSED);
    recorded(sweep);
    const launcher = sweep.open();
    expect(await told(eventsOf(launcher, sweep.jobs(2)))).toEqual(
      [0, 1].flatMap((number) => [`started ${number}`, `ended ${number}`]),
    );
    expect(new Set(sweep.read("pids").trimEnd().split("\n")).size).toBe(1);
    expect(sweep.state(1)).toMatchObject({ status: "failed", attempts: [{ exit_code: 4 }] });
    launcher.close?.();
  });

  test("whose log is gone leaves the job to a new process", async () => {
    const sweep = sweepOf(reusedWorker(`echo $$ >> pids; echo "I am $n"`), REUSED);
    recorded(sweep);
    Object.assign(sweep.request, {
      mayStart() {
        for (const name of draftsIn(sweep.folder)) rmSync(join(jobsFolder(sweep.folder), name));
        return true;
      },
    });
    const launcher = sweep.open();
    await told(eventsOf(launcher, sweep.jobs(2)));
    expect(new Set(sweep.read("pids").trimEnd().split("\n")).size).toBe(2);
    expect([0, 1].map(sweep.log)).toEqual(["I am 0\n", "I am 1\n"]);
    launcher.close?.();
  });

  test("appends to the log of an earlier attempt", async () => {
    const sweep = sweepOf(reusedWorker(`echo "I am $n"`), REUSED);
    recorded(sweep);
    for (const number of [0, 1]) writeFileSync(jobLog(sweep.folder, number), "before\n");
    const shown = sweep.open({ output: "followed" });
    await told(eventsOf(shown, sweep.jobs(2)));
    shown.close?.();
    expect([0, 1].map(sweep.log)).toEqual(["before\nI am 0\n", "before\nI am 1\n"]);
    expect(sweep.shown.join("")).toBe("I am 0\nI am 1\n");
  });

  test("is left to its job where the launcher cannot go on, and ends after it", async () => {
    const sweep = sweepOf(reusedWorker(`touch began-$n; [ $n = 0 ] || ${hold("may")}`), {
      ...REUSED,
      n_jobs: 2,
    });
    Object.assign(sweep.request, {
      resultOf() {
        throw new Error("disk full");
      },
    });
    await expect(told(sweep.launch(2))).rejects.toThrow("disk full");
    const [pid = 0] = pidsOf(sweep.state(1)) ?? [];
    await until(() => sweep.has("began-1"));
    expect(isRunning(identityOf(pid))).toBe(true);
    sweep.write("may");
    await until(() => isRunning(identityOf(pid)) === false);
  });

  test("that says that its job is done after it was asked to end is done, and runs no other", async () => {
    const sweep = sweepOf(
      reusedWorker(`trap : TERM; echo $$ >> pids; touch began-$n; ${hold("may-$n")}`),
      REUSED,
    );
    recorded(sweep);
    const events = sweep.launch(1);
    await events.next();
    const next = events.next();
    await until(() => sweep.has("began-0"));
    process.listeners("SIGTERM").at(-1)?.("SIGTERM");
    const state = sweep.state(0);
    if (state === undefined) return expect.unreachable("it has begun");
    // The worker records what its program answered before it hears of the signal.
    writeJobState(
      sweep.folder,
      ended(state, { endedBy: { by: "itself" }, exitCode: 1, error: "boom" }),
    );
    sweep.write("may-0");
    await next;
    await told(events);
    expect(sweep.state(0)).toMatchObject({
      status: "stopped",
      attempts: [{ exit_code: 1, ended_by: { by: "launcher", signal: "SIGTERM" } }],
    });
    const [pid = 0] = pidsOf(state) ?? [];
    await until(() => isRunning(identityOf(pid)) === false);
  });
});

describe("a worker", () => {
  test("is told what the sweep trusts, and what is its own", async () => {
    const sweep = sweepOf('echo "$HYDRACONF_TRUST $CUDA_VISIBLE_DEVICES" > said; exit 1', {
      resources: { gpu: [6] },
    });
    Object.assign(sweep.request.internals.invocation, { trust: "a,b" });
    await told(sweep.launch(1));
    expect(sweep.read("said")).toBe("a,b 6\n");
    const none = sweepOf('echo "${HYDRACONF_TRUST-none}" > said; exit 1');
    await told(none.launch(1));
    expect(none.read("said")).toBe("none\n");
  });

  test("holds its slot itself, and takes with it what it started", async () => {
    const sweep = sweepOf("sleep 600 & echo $! > child; touch began; wait", {
      resources: { gpu: [6] },
    });
    const events = sweep.launch(1);
    await events.next();
    await until(() => sweep.has("began"));
    const [pid = 0] = pidsOf(sweep.state(0)) ?? [];
    const child = identityOf(Number(sweep.read("child")));
    const slots = slotsFolder(sweep.folder);
    const holders = readdirSync(slots).map((name) => holderOf(join(slots, name))?.pid);
    expect(holders).toEqual([pid]);
    process.kill(pid, "SIGKILL");
    expect(await told(events)).toEqual([]);
    await until(() => isRunning(child) === false);
    expect(sweep.state(0)).toMatchObject({
      status: "stopped",
      attempts: [{ ended_by: { by: "signal", signal: "SIGKILL" } }],
    });
    expect(readdirSync(slots)).toEqual([]);
  });

  test("is killed where its start cannot be recorded, and its slot is free", async () => {
    const sweep = sweepOf("sleep 600", { resources: { gpu: [6] } });
    const kill = vi.spyOn(process, "kill");
    const rename = fs.renameSync;
    vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
      if (to === jobFile(sweep.folder, 0)) throw new Error("disk full");
      rename(from, to);
    });
    syncBuiltinESMExports();
    await expect(told(sweep.launch(1))).rejects.toThrow("disk full");
    expect(kill.mock.calls.filter(([, signal]) => signal !== 0)).toEqual([
      [expect.any(Number), "SIGKILL"],
    ]);
    expect(readdirSync(slotsFolder(sweep.folder))).toEqual([]);
    const [pid = 0] = kill.mock.calls.at(-1) ?? [];
    kill.mockRestore();
    await until(() => isRunning(identityOf(-pid)) === false);
  });

  test("that goes on after it was asked to end is killed in the end", async () => {
    const sweep = sweepOf(`trap "" TERM; touch began; ${hold("may")}`);
    const events = sweep.launch(1);
    await events.next();
    await until(() => sweep.has("began"));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      process.listeners("SIGTERM").at(-1)?.("SIGTERM");
      const [pid = 0] = pidsOf(sweep.state(0)) ?? [];
      vi.advanceTimersByTime(9_999);
      // A second signal does not give it more time.
      process.listeners("SIGTERM").at(-1)?.("SIGTERM");
      expect(isRunning(identityOf(pid))).toBe(true);
      vi.advanceTimersByTime(1);
    } finally {
      vi.useRealTimers();
    }
    expect(await told(events)).toEqual(["stopped"]);
    expect(sweep.state(0)).toMatchObject({
      status: "stopped",
      attempts: [{ exit_code: null, ended_by: { by: "launcher", signal: "SIGTERM" } }],
    });
  });

  test("whose time is up only counts while it is not suspended", async () => {
    const members: Suspendable[] = [];
    const join = (member: Suspendable) => {
      members.push(member);
      return () => {};
    };
    const sweep = sweepOf(
      `touch began; ${hold("may")}; exit 1`,
      { timeout_min: 1 },
      { suspension: { join } },
    );
    const kill = vi.spyOn(process, "kill");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const events = sweep.launch(1);
      await events.next();
      const next = events.next();
      await until(() => sweep.has("began"));
      vi.advanceTimersByTime(59_000);
      for (const { suspend } of members) suspend?.();
      vi.advanceTimersByTime(600_000);
      for (const { resume } of members) resume?.();
      vi.advanceTimersByTime(900);
      expect(kill.mock.calls.filter(([, signal]) => signal === "SIGTERM")).toEqual([]);
      vi.advanceTimersByTime(100);
      expect(await next).toMatchObject({ value: { kind: "ended" } });
      await told(events);
    } finally {
      vi.useRealTimers();
    }
    expect(sweep.state(0)).toMatchObject({
      status: "timed_out",
      attempts: [{ error: "took longer than 1 min" }],
    });
  });

  test("whose job another launcher has started anew leaves that record as it is", async () => {
    const sweep = sweepOf(`touch began; ${hold("may")}; exit 1`);
    const events = sweep.launch(1);
    await events.next();
    await until(() => sweep.has("began"));
    const anew = begun(0, sweep.state(0));
    writeJobState(sweep.folder, anew);
    sweep.write("may");
    await told(events);
    expect(sweep.state(0)).toEqual(anew);
  });
});
