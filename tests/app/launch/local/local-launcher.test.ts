import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { SweepJob } from "../../../../src/app/job/plan-job.ts";
import type { LaunchEvent } from "../../../../src/app/launch/launcher.ts";
import { createEndings, localLauncher } from "../../../../src/app/launch/local/local-launcher.ts";
import { readLocalSettings } from "../../../../src/app/launch/local/local-settings.ts";
import { openSlots } from "../../../../src/app/launch/local/slots.ts";
import { jobLog, slotsFolder } from "../../../../src/app/record/layout.ts";
import { isRunning } from "../../../../src/foundation/system/process-identity.ts";
import type { Suspendable, Suspension } from "../../../../src/foundation/system/process-signals.ts";
import { until } from "../../../wait.ts";
import { endWorkersAfterEach, NUMBER, sweepOf, told } from "./shell-sweep.ts";

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

/** What the launcher does when this process is sent a signal. */
const sent = (signal: NodeJS.Signals) => process.listeners(signal).at(-1)?.(signal);

endWorkersAfterEach();

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
    const sweep = sweepOf("echo Error: no such thing; echo at prog; exit 4", {
      n_jobs: 1,
      max_retries: 2,
    });
    const { launch, request, state } = sweep;
    const endedSince = vi.fn();
    Object.assign(request.internals.record, { endedSince });
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
    expect(events[1]).toMatchObject({ status: "failed", reason: "Error: no such thing" });
    expect(state(0)?.attempts).toHaveLength(3);
    // What an earlier launcher left is looked for once.
    expect(endedSince.mock.calls.map(([{ number }]) => number)).toEqual([0, 1]);
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
      `${NUMBER}; touch began-$n
      [ $n = 1 ] || { while ! [ -e pruned ]; do sleep 0.02; done; exit 3; }
      trap "touch pruned; exit 1" TERM; while :; do sleep 0.02; done`,
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
    expect(state(0)).toMatchObject({ status: "failed", attempts: [{ exit_code: 3 }] });
  });

  test("waits for slots that others hold, and says of whom once", async () => {
    const { folder, launch, logged, request } = sweepOf("echo $CUDA_VISIBLE_DEVICES; exit 1", {
      resources: { gpu: [4] },
    });
    const one = { slots: ["4"], perJob: 1, perSlot: 1 };
    const taken = openSlots(new Map([["gpu", one]]), slotsFolder(folder)).take("a game");
    if (taken.kind !== "taken") return expect.unreachable("nobody else has it");
    const mayStart = vi.fn(() => true);
    Object.assign(request, { mayStart });
    const first = launch(2);
    const started = first.next();
    await until(() => mayStart.mock.calls.length > 2);
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

  test("gives each job the settings of its own config, and as many processes as the least demanding may have", async () => {
    const sweep = sweepOf(
      `${NUMBER}; echo "$CUDA_VISIBLE_DEVICES" > gpus-$n; touch began-$n; while ! [ -e may ]; do sleep 0.02; done; exit 1`,
      { n_jobs: 4, resources: { gpu: { slots: [1, 2, 3], per_job: 2 } } },
    );
    const single = { resources: { gpu: [1, 2, 3] } };
    const batch = sweep.jobs(4, [{}, single, { ...single, max_retries: 1, n_jobs: 1 }]);
    const events = told(sweep.launch(batch));
    await until(() => sweep.has("began-0") && sweep.has("began-1"));
    expect(sweep.logged[0]).toBe("hydraconf.launchers.local: Launching 4 jobs in 3 processes");
    sweep.write("may");
    const all = await events;
    expect(all.filter((event) => event.startsWith("retried"))).toEqual(["retried 2"]);
    expect(all).toHaveLength(10);
    // Jobs of this sweep hold the slots.
    expect(sweep.logged.filter((line) => line.includes("Waiting"))).toEqual([]);
    expect([0, 1].map((number) => sweep.read(`gpus-${number}`))).toEqual(["1,2\n", "3\n"]);
    expect(sweep.read("gpus-2")).toMatch(/^[123]$/m);
    expect(sweep.read("gpus-3")).toMatch(/^[123],[123]$/m);
  });

  test("refuses a job's settings before the first job starts", async () => {
    const sweep = sweepOf("touch began");
    const batch = sweep.jobs(2, [{}, { resources: { gpu: { slots: [1], per_job: 2 } } }]);
    await expect(told(sweep.launch(batch))).rejects.toThrow("it must be at most 1");
    expect([sweep.has("began"), sweep.state(0), sweep.logged]).toEqual([false, undefined, []]);
  });

  test("shares slots with all sweeps of the machine, unless told otherwise", async () => {
    const temporary = process.env["TMPDIR"];
    const gpu = { resources: { gpu: [4] }, slot_scope: "machine" };
    const place = sweepOf("");
    process.env["TMPDIR"] = place.folder;
    try {
      const sweep = sweepOf("ls .; exit 1", { ...gpu });
      await told(sweep.launch(1));
      const [slots] = readdirSync(place.folder).filter((name) =>
        name.startsWith("hydraconf-slots"),
      );
      expect(slots).toBeDefined();
      const own = sweepOf("exit 1", { ...gpu, slot_scope: "sweep" });
      await told(own.launch(1));
      expect([sweep, own].map(({ folder }) => existsSync(slotsFolder(folder)))).toEqual([
        false,
        true,
      ]);
      // Without resources nothing is shared.
      const none = sweepOf("exit 1", { slot_scope: "machine" });
      rmSync(join(place.folder, slots ?? ""), { recursive: true });
      await told(none.launch(1));
      expect(existsSync(join(place.folder, slots ?? ""))).toBe(false);
    } finally {
      if (temporary === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = temporary;
    }
  });

  test("suspends its jobs with this process, and resumes them", async () => {
    const members = new Set<Suspendable>();
    const suspension: Suspension = {
      join(member) {
        members.add(member);
        return () => void members.delete(member);
      },
    };
    // It starts no process while it waits: a shell whose child stops between `vfork` and `exec` is never listed as stopped.
    const { has, launch, state, write } = sweepOf(
      `${NUMBER}; mkfifo may-$n; touch began-$n; read line < may-$n; exit 1`,
      {},
      { suspension },
    );
    const events = told(launch(2));
    await until(() => has("began-0") && has("began-1"));
    const pids = [0, 1].map((number) => state(number)?.attempts[0]?.pid ?? 0);
    const areStopped = () =>
      pids.map((pid) => /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));
    expect(members.size).toBe(1);
    for (const member of members) member.suspend?.();
    await until(() => areStopped().every(Boolean));
    for (const member of members) member.resume?.();
    await until(() => !areStopped().some(Boolean));
    const kill = vi.spyOn(process, "kill");
    // Once: what was not suspended again is not resumed again.
    for (const member of members) member.resume?.();
    expect(kill).not.toHaveBeenCalled();
    kill.mockRestore();
    write("may-0");
    write("may-1");
    expect((await events).toSorted()).toEqual(["ended 0", "ended 1", "started 0", "started 1"]);
    expect(members.size).toBe(0);
  });

  test("takes the end of a job that an earlier launcher's worker had run", async () => {
    const sweep = sweepOf(`${NUMBER}; touch began-$n; exit 1`);
    const { record } = sweep.request.internals;
    const endedSince = ({ number }: SweepJob) => (number === 0 ? "its earlier end" : undefined);
    Object.assign(record, { endedSince });
    const events: LaunchEvent[] = [];
    for await (const event of sweep.launch(2)) events.push(event);
    expect(events.slice(0, 2)).toMatchObject([
      { kind: "started", job: { number: 0 } },
      { kind: "ended", job: { number: 0 }, result: "its earlier end" },
    ]);
    expect([sweep.has("began-0"), sweep.has("began-1")]).toEqual([false, true]);
    expect(sweep.logged.slice(1)).toEqual(["hydraconf.launchers.local: \t#1 : x=1"]);
  });

  test("follows first the jobs that workers of an earlier launcher still run", async () => {
    const script = `${NUMBER}; touch began-$n; while ! [ -e may-$n ]; do sleep 0.02; done; exit 1`;
    const sweep = sweepOf(script, { n_jobs: 1 });
    const earlier = sweepOf(script);
    Object.assign(earlier.request.internals.record, { folder: sweep.folder });
    const left = told(earlier.launch(sweep.jobs(3).slice(2)));
    await until(() => sweep.state(2)?.status === "running" && earlier.has("began-2"));
    const events = sweep.launch(3);
    expect(await events.next()).toMatchObject({ value: { kind: "started", job: { number: 2 } } });
    earlier.write("may-2");
    await left;
    expect(await events.next()).toMatchObject({ value: { kind: "ended", job: { number: 2 } } });
    expect(await events.next()).toMatchObject({ value: { kind: "started", job: { number: 0 } } });
    sweep.write("may-0");
    sweep.write("may-1");
    expect(await told(events)).toEqual(["ended 0", "started 1", "ended 1"]);
    expect(sweep.state(2)?.attempts).toHaveLength(1);
  });

  test("launches nothing where no job is left", async () => {
    const { launch, logged } = sweepOf("exit 1");
    expect(await told(launch(0))).toEqual([]);
    expect(logged).toEqual(["hydraconf.launchers.local: Launching 0 jobs in 1 process"]);
  });
});

test("as a definition it says what it does, with its retries and the names of its jobs", () => {
  const jobId = (number: number) => `job ${number}`;
  const plain = localLauncher("local", "hydraconf.Local", readLocalSettings);
  expect(plain).toMatchObject({
    ...{ name: "local", targets: ["hydraconf.Local"], settingsByJob: true, prunes: true },
  });
  expect("jobId" in plain).toBe(false);
  expect(plain.retries?.({ max_retries: 2n })).toBe(2);
  expect(localLauncher("other", "Other", readLocalSettings, { jobId })).toMatchObject({
    ...{ name: "other", jobId },
  });
});
