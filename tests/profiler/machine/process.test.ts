import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Suspendable, Suspension } from "../../../src/foundation/system/process-signals.ts";
import {
  cutOutput,
  describeOutcome,
  pauseNotes,
  runWorkload,
  succeeded,
  unwrittenOfAll,
  type Workload,
} from "../../../src/profiler/machine/process.ts";
import { eventually } from "../../wait.ts";

const program = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/programs/${name}`, import.meta.url));

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hydraconf-process-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function workload(...argv: string[]): Workload {
  // A document workload keeps its output out of the test run's own.
  return {
    label: "test",
    argv,
    cwd: directory,
    env: {},
    stdout: "document",
    device: null,
    inputFiles: [],
  };
}

const requests = () => ({ stop: new AbortController(), kill: new AbortController() });

const run = (work: Workload, { stop, kill } = requests(), graceMs?: number) =>
  runWorkload(work, {
    directory,
    env: {},
    interrupt: { stop: stop.signal, kill: kill.signal },
    ...(graceMs !== undefined && { graceMs }),
  });

/** What a workload that hangs has said: that it has begun, and its processes. */
const begun = (): Promise<{ readonly pid: number; readonly child: number }> =>
  eventually(() => JSON.parse(readFileSync(join(directory, "stdout.json"), "utf8")));

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    // A zombie still answers; /proc tells it from a running process.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

/** As the kernel tells it: `T` for one that was stopped. */
const stateOf = (pid: number): string | undefined =>
  /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];

describe("runWorkload", () => {
  it("keeps the output, the exit code and the last lines of standard error", async () => {
    const outcome = await run(workload(process.execPath, program("fail.mjs"), "7"));
    expect(outcome).toMatchObject({ exitCode: 7, signal: null, startError: null });
    expect(succeeded(outcome)).toBe(false);
    expect(readFileSync(outcome.stdoutFile, "utf8")).toBe("some output\n");
    expect(outcome.stderrTail.split("\n")).toHaveLength(20);
    expect(outcome.stderrTail).toMatch(/problem 30$/);
    expect(describeOutcome(outcome)).toBe("node ended with exit code 7");
  });

  it("goes on where its output cannot be written, and says so", async () => {
    symlinkSync("/dev/full", join(directory, "stdout.json"));
    const lines = "for (let i = 0; i < 5000; i++) console.log(i); console.error('the end')";
    const outcome = await run(workload(process.execPath, "-e", lines));
    expect(outcome).toMatchObject({ exitCode: 0, signal: null, stderrTail: "the end" });
    expect(outcome.unwritten).toBe("stdout.json: no space is left on its disk");
    expect(cutOutput(outcome)).toEqual([
      `the program's output is incomplete in ${outcome.unwritten}`,
    ]);
    rmSync(join(directory, "stdout.json"));
    const whole = await run(workload(process.execPath, "-e", lines));
    expect(whole).not.toHaveProperty("unwritten");
    // Of several runs all that are cut are told, and not only the one that says how they ended.
    const other = { ...outcome, unwritten: "pass-2.txt: no space" };
    expect(unwrittenOfAll([outcome, whole, other, other])).toEqual({
      unwritten: "stdout.json: no space is left on its disk; pass-2.txt: no space",
    });
    expect(unwrittenOfAll([whole])).toEqual({});
  });

  it("passes arguments on untouched by any shell", async () => {
    const nasty = ["a b", "$(echo no)", "`no`", "*", "'\"", "", "--", "=,:{}[]"];
    const print = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
    const outcome = await run(workload(process.execPath, "-e", print, "--", ...nasty));
    expect(JSON.parse(readFileSync(outcome.stdoutFile, "utf8"))).toEqual(nasty);
  });

  it.each([
    ["no-such-program-at-all", /was not found/],
    [join(tmpdir()), /not executable|could not be started/],
  ])("says why %s did not start", async (name, message) => {
    const outcome = await run(workload(name));
    expect(outcome.exitCode).toBeNull();
    expect(outcome.startError).toMatch(message);
    expect(describeOutcome(outcome)).toMatch(message);
  });

  it("names the signal that ended the workload", async () => {
    const outcome = await run(
      workload(process.execPath, "-e", "process.kill(process.pid, 'SIGSEGV')"),
    );
    expect(outcome).toMatchObject({ exitCode: null, signal: "SIGSEGV", interruptedBy: null });
  });

  it("stops the workload and what it started when interrupted", async () => {
    const interrupt = requests();
    const running = run(workload(process.execPath, program("hang.mjs")), interrupt);
    const pids = await begun();
    interrupt.stop.abort("SIGINT");
    const outcome = await running;
    expect(outcome.interruptedBy).toBe("SIGINT");
    await eventually(() => expect([pids.pid, pids.child].filter(isAlive)).toEqual([]));
  });

  it("kills a workload that ignores the request to stop", async () => {
    const interrupt = requests();
    const running = run(workload(process.execPath, program("hang.mjs"), "--stubborn"), interrupt);
    await begun();
    interrupt.stop.abort("SIGINT");
    const outcome = await running;
    expect(outcome).toMatchObject({ signal: "SIGKILL", interruptedBy: "SIGINT" });
  });

  it("stands still with this process, and so does what it started; how long is told", async () => {
    const members = new Set<Suspendable>();
    const suspension: Suspension = {
      join(member) {
        members.add(member);
        return () => void members.delete(member);
      },
    };
    const interrupt = requests();
    const running = runWorkload(workload(process.execPath, program("hang.mjs")), {
      directory,
      env: {},
      interrupt: { stop: interrupt.stop.signal, kill: interrupt.kill.signal, suspension },
    });
    const pids = Object.values(await begun());
    for (const member of members) member.suspend?.();
    await eventually(() => expect(pids.map(stateOf)).toEqual(["T", "T"]));
    for (const member of members) member.resume?.();
    await eventually(() => expect(pids.map(stateOf)).toEqual(["S", "S"]));
    interrupt.stop.abort("SIGINT");
    expect((await running).pausedMs).toBeGreaterThan(0);
    expect(members.size).toBe(0);
  });

  it("kills it at once when asked a second time", async () => {
    const interrupt = requests();
    const stubborn = workload(process.execPath, program("hang.mjs"), "--stubborn");
    // The grace that a first request gives is longer than this test may take.
    const running = run(stubborn, interrupt, 3_600_000);
    await begun();
    interrupt.stop.abort("SIGINT");
    interrupt.kill.abort("SIGINT");
    expect(await running).toMatchObject({ signal: "SIGKILL", interruptedBy: "SIGINT" });
  });

  it("goes on waiting where a part of the workload may not be signalled, as below sudo", async () => {
    const interrupt = requests();
    const running = run(workload(process.execPath, program("hang.mjs")), interrupt);
    await begun();
    const kill = process.kill.bind(process);
    const refused: number[] = [];
    vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
      kill(pid, signal);
      refused.push(pid);
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    });
    interrupt.stop.abort("SIGINT");
    interrupt.kill.abort("SIGINT");
    const outcome = await running.finally(() => vi.restoreAllMocks());
    expect(outcome.interruptedBy).toBe("SIGINT");
    expect(refused.length).toBeGreaterThan(1);
  });
});

it("wall times that include a pause are told", () => {
  const note = (time: string) =>
    `the program was suspended (Ctrl-Z) for ${time}: wall times of regions that were open then include the pause`;
  expect(pauseNotes({})).toEqual([]);
  expect(pauseNotes({ pausedMs: 1.5 })).toEqual([note("2 ms")]);
  expect(pauseNotes({ pausedMs: 12_340 })).toEqual([note("12.3 s")]);
  expect(pauseNotes({ suspendedMs: 3_210, sleptMs: 720_000 })).toEqual([
    "this job was suspended from outside for about 3.2 s (Ctrl-Z at its sweep, the scheduler, a container): wall times of regions that were open then include the pause",
    "the machine slept for 720.0 s while the program ran: times do not include that, but what ran next began with cold caches and clocks",
  ]);
});
