import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { SweepJob } from "../../../../src/app/job/plan-job.ts";
import type {
  LaunchEvent,
  LauncherInternals,
  LauncherRequest,
} from "../../../../src/app/launch/launcher.ts";
import { createEndings, localLauncher } from "../../../../src/app/launch/local/local-launcher.ts";
import { readLocalSettings } from "../../../../src/app/launch/local/settings.ts";
import { openSlots } from "../../../../src/app/launch/local/slots.ts";
import { hasEnded, readJobState } from "../../../../src/app/record/job-state.ts";
import { jobLog, jobsFolder, slotsFolder } from "../../../../src/app/record/layout.ts";
import { isRunning } from "../../../../src/foundation/system/process-identity.ts";
import { until } from "../../../wait.ts";

const never = () => new Promise<string>(() => {});

test("what ends first comes first, also what ended before it was asked for", async () => {
  const endings = createEndings<string>();
  endings.add(never());
  endings.add(Promise.resolve("a"));
  endings.add(Promise.resolve("b"));
  await new Promise((done) => setImmediate(done));
  expect([await endings.next(), await endings.next(0), await endings.next(0)]).toEqual([
    "a",
    "b",
    undefined,
  ]);
  const later = endings.next(60_000);
  endings.add(Promise.resolve("c"));
  expect(await later).toBe("c");
});

test("a rejection is thrown, once", async () => {
  const endings = createEndings<string>();
  endings.add(Promise.reject(new Error("disk full")));
  await expect(endings.next()).rejects.toThrow("disk full");
  expect(await endings.next(0)).toBeUndefined();
});

test("looking again leaves nothing behind on what goes on: a sweep may wait for days", async () => {
  const endings = createEndings<string>();
  const long = never();
  const listened = vi.spyOn(long, "then");
  endings.add(long);
  for (let look = 0; look < 20; look++) await endings.next(0);
  expect(listened).toHaveBeenCalledOnce();
});

/** A sweep whose workers are this shell script, which records nothing itself. */
function sweepOf(
  script: string,
  settings: Readonly<Record<string, unknown>> = {},
  internals: Partial<LauncherInternals> & { readonly command?: readonly string[] } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-launcher-"));
  mkdirSync(jobsFolder(folder));
  folders.push(folder);
  const logged: string[] = [];
  const said: string[] = [];
  const shown: string[] = [];
  const { command = ["/bin/sh", "-c", script], ...others } = internals;
  const program = { name: "prog", command, argv: [] };
  const facts = { directory: folder, cwd: folder, program, holds_secrets: false };
  const request = {
    settings: { slot_scope: "sweep", n_jobs: 2, ...settings },
    directory: folder,
    env: process.env,
    logger: (name: string) => ({ info: (line: string) => logged.push(`${name}: ${line}`) }),
    say: (line: string) => said.push(line),
    mayStart: () => true,
    resultOf({ number }: SweepJob) {
      const state = readJobState(folder, number);
      return hasEnded(state) ? state : undefined;
    },
    internals: {
      record: { folder, facts: () => facts, endedSince: () => undefined },
      invocation: {
        cwd: folder,
        env: process.env,
        command: ["/bin/sh", "/opt/prog.sh"],
        console: { stdout: (text: string) => shown.push(text) },
      },
      reusesWorkers: false,
      failsFast: false,
      isRun: false,
      ...others,
    },
  } as unknown as LauncherRequest;
  return {
    folder,
    logged,
    said,
    shown,
    request,
    state: (number: number) => readJobState(folder, number),
    has: (name: string) => existsSync(join(folder, name)),
    write: (name: string) => writeFileSync(join(folder, name), ""),
    launch: (count: number, appearance = {}) =>
      localLauncher("local", "Local", readLocalSettings, appearance)
        .open(request)
        .launch?.(
          Array.from({ length: count }, (_, number) => ({
            ...{ number, overrides: [`x=${number}`], swept: [`x=${number}`, "hydra.a=1"] },
          })) as unknown as SweepJob[],
        ) as AsyncGenerator<LaunchEvent>,
  };
}

async function told(events: AsyncIterable<LaunchEvent>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const event of events)
    all.push("job" in event ? `${event.kind} ${event.job.number}` : event.kind);
  return all;
}

/** The number of the job of a worker, in its shell. */
const NUMBER = "n=${HYDRACONF_WORKER%%:*}";

/** What the launcher does when this process is sent a signal. */
const sent = (signal: NodeJS.Signals) => process.listeners(signal).at(-1)?.(signal);

const folders: string[] = [];
// What a test that failed has left.
afterEach(() => {
  for (const folder of folders.splice(0))
    for (const number of [0, 1, 2]) {
      const last = readJobState(folder, number)?.attempts.at(-1);
      if (last !== undefined && isRunning(last) === true) process.kill(-last.pid, "SIGKILL");
    }
});

describe("the launcher, whose workers are shells", () => {
  test("starts as many as it may in their order, and the next as one ends", async () => {
    const { has, launch, logged, state, write } = sweepOf(
      `${NUMBER}; touch began-$n; while ! [ -e may-$n ]; do sleep 0.02; done; exit $n`,
    );
    const events = launch(3);
    const first = [await events.next(), await events.next()];
    expect(first.map(({ value }) => `${value.kind} ${value.job.number}`)).toEqual([
      "started 0",
      "started 1",
    ]);
    const third = events.next();
    await until(() => has("began-0") && has("began-1"));
    expect(has("began-2")).toBe(false);
    write("may-1");
    expect((await third).value).toMatchObject({ kind: "ended", job: { number: 1 } });
    write("may-2");
    expect(await events.next()).toMatchObject({ value: { kind: "started", job: { number: 2 } } });
    expect(await events.next()).toMatchObject({ value: { kind: "ended", job: { number: 2 } } });
    write("may-0");
    expect(await told(events)).toEqual(["ended 0"]);
    expect([0, 1, 2].map((number) => state(number)?.attempts[0]?.exit_code)).toEqual([0, 1, 2]);
    expect(logged).toEqual([
      "hydraconf.launchers.local: Launching 3 jobs in 2 processes",
      "hydraconf.launchers.local: \t#0 : x=0",
      "hydraconf.launchers.local: \t#1 : x=1",
      "hydraconf.launchers.local: \t#2 : x=2",
    ]);
  });

  test("says one job, and no more processes than jobs", async () => {
    const { launch, logged } = sweepOf("exit 1");
    await told(launch(1));
    expect(logged[0]).toBe("hydraconf.launchers.local: Launching 1 job in 1 process");
  });

  test("starts a job again that fails, before the others, as often as it may", async () => {
    const { launch, state } = sweepOf("echo no such thing; exit 4", { n_jobs: 1, max_retries: 2 });
    const events: LaunchEvent[] = [];
    for await (const event of launch(2)) events.push(event);
    expect(events.map(({ kind, ...more }) => [kind, "job" in more && more.job.number])).toEqual(
      [0, 1].flatMap((number) => [
        ...["started", "retried", "started", "retried", "started", "ended"].map((kind) => [
          kind,
          number,
        ]),
      ]),
    );
    expect(events[1]).toMatchObject({ status: "failed", reason: "no such thing" });
    expect(state(0)?.attempts).toHaveLength(3);
  });

  test("starts none that it may not", async () => {
    const sweep = sweepOf("exit 0");
    const mayStart = vi.fn(() => mayStart.mock.calls.length < 3);
    Object.assign(sweep.request, { mayStart });
    expect((await told(sweep.launch(4))).filter((one) => one.startsWith("started"))).toEqual([
      "started 0",
      "started 1",
    ]);
  });

  test("passes a signal on, starts no other job, and says that it was stopped", async () => {
    const { has, launch, state } = sweepOf(`${NUMBER}; touch began-$n; exec sleep 600`, {
      max_retries: 3,
    });
    const before = process.listenerCount("SIGTERM");
    const events = launch(3);
    await events.next();
    await events.next();
    await until(() => has("began-0") && has("began-1"));
    sent("SIGTERM");
    sent("SIGINT");
    // Jobs that were stopped have no result.
    expect((await events.next()).value).toEqual({ kind: "stopped", signal: "SIGTERM" });
    expect((await events.next()).done).toBe(true);
    expect([state(0)?.status, state(1)?.status, state(2)]).toEqual([
      "stopped",
      "stopped",
      undefined,
    ]);
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });

  test("ends a job after its time, and takes it for one that failed", async () => {
    const { launch, state } = sweepOf("exec sleep 600", { timeout_min: 0.001, max_retries: 1 });
    expect(await told(launch(1))).toEqual(["started 0", "retried 0", "started 0", "ended 0"]);
    expect(state(0)).toMatchObject({
      status: "timed_out",
      attempts: [{ error: "took longer than 0.06 s" }, { error: "took longer than 0.06 s" }],
    });
  });

  test("records why a worker could not be started", async () => {
    const { launch, state } = sweepOf("", {}, { command: ["/nowhere/prog"] });
    expect(await told(launch(1))).toEqual(["started 0", "ended 0"]);
    expect(state(0)).toMatchObject({
      status: "failed",
      attempts: [{ error: "spawn /nowhere/prog ENOENT" }],
    });
  });

  test("ends the jobs that are not worth going on, and notes at which step", async () => {
    const look = vi.fn((running: readonly SweepJob[]) =>
      running.some(({ number }) => number === 1) && has("began-1") && look.mock.calls.length > 2
        ? [{ number: 1, step: 7 }]
        : [],
    );
    const pruning = { note: () => {}, look };
    const { has, launch, state } = sweepOf(
      `${NUMBER}; touch began-$n; [ $n = 1 ] || exit 3; exec sleep 600`,
      {},
      { pruning },
    );
    expect((await told(launch(2))).toSorted()).toEqual([
      "ended 0",
      "ended 1",
      "started 0",
      "started 1",
    ]);
    expect(state(1)?.attempts[0]?.ended_by).toEqual({ by: "pruner", step: 7 });
  });

  test("waits for slots that others hold, and says of whom once", async () => {
    const { folder, launch, logged } = sweepOf("echo $CUDA_VISIBLE_DEVICES; exit 1", {
      resources: { gpu: [4] },
    });
    const one = { slots: ["4"], perJob: 1, perSlot: 1 };
    const taken = openSlots(new Map([["gpu", one]]), slotsFolder(folder)).take("a game");
    if (taken.kind !== "taken") return expect.unreachable("nobody else has it");
    const first = launch(2);
    const started = first.next();
    await until(() => logged.length > 1);
    expect(logged.slice(1)).toEqual([
      `hydraconf.launchers.local: Waiting for a slot of gpu: process ${process.pid} holds 4 (a game)`,
    ]);
    taken.held.giveBack();
    expect((await started).value).toMatchObject({ kind: "started", job: { number: 0 } });
    expect(await told(first)).toEqual(["ended 0", "started 1", "ended 1"]);
    expect(logged.filter((line) => line.includes("Waiting"))).toHaveLength(1);
    expect(readFileSync(jobLog(folder, 0), "utf8")).toBe("4\n");
  });

  test("shows what a job prints where it is followed", async () => {
    const { launch, shown } = sweepOf("echo one; echo two; exit 1");
    await told(launch(1, { output: "followed" }));
    expect(shown.join("")).toBe("one\ntwo\n");
    const single = sweepOf("echo three; exit 1", {}, { isRun: true });
    await told(single.launch(1));
    expect(single.shown.join("")).toBe("three\n");
    const quiet = sweepOf("echo four; exit 1");
    await told(quiet.launch(1));
    expect(quiet.shown).toEqual([]);
  });

  test.each([
    [
      1,
      "Job #1 is left to its process: 'hydraconf sweep wait DIR' and --resume wait for it, 'hydraconf sweep cancel DIR' ends it",
    ],
    [
      2,
      "Jobs #1, #2 are left to their processes: 'hydraconf sweep wait DIR' and --resume wait for them, 'hydraconf sweep cancel DIR' ends them",
    ],
  ])("leaves %i jobs to their workers where it cannot go on", async (count, text) => {
    const sweep = sweepOf(`${NUMBER}; [ $n = 0 ] || exec sleep 600`, { n_jobs: count + 1 });
    const { launch, request, said, state } = sweep;
    Object.assign(request, {
      resultOf() {
        throw new Error("disk full");
      },
    });
    await expect(told(launch(count + 1))).rejects.toThrow("disk full");
    expect(said).toEqual([text.replaceAll("DIR", sweep.folder)]);
    for (let number = 1; number <= count; number++) {
      const [attempt] = state(number)?.attempts ?? [];
      expect(attempt && isRunning(attempt)).toBe(true);
    }
  });
});
