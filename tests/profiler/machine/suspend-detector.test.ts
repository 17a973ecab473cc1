import { readFileSync } from "node:fs";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { detectSuspension } from "../../../src/profiler/machine/suspend-detector.ts";
import { bundled } from "../../bundled.ts";
import { until } from "../../wait.ts";

const WATCHER = new URL("suspend-detector/watcher.ts", import.meta.url);

/** Its letter in the process table. */
const stateOf = (pid: number | undefined): string | undefined =>
  readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.[0];

test("how long a process was suspended is noticed by itself", async () => {
  const child = execa(process.execPath, [bundled(WATCHER, "watcher")]);
  const lines = child[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("watching");
  // It waits for something to do, as a profiler does while its program runs.
  await until(() => stateOf(child.pid) === "S");
  child.kill("SIGSTOP");
  const since = performance.now();
  await until(() => performance.now() - since > 2_000);
  child.kill("SIGCONT");
  const { sleptMs, suspendedMs } = JSON.parse(String((await lines.next()).value));
  await child;
  // All but the time to the next look and after it.
  expect(suspendedMs).toBeGreaterThan(1_400);
  expect(sleptMs).toBe(0);
});

test("a process that has much to do at once was not suspended, however late its timers are", async () => {
  const end = detectSuspension();
  // Blocks the event loop as work would: a long file that is parsed, a collection of garbage.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  // Its timers run before what is immediate.
  await new Promise(setImmediate);
  expect(end()).toEqual({ suspendedMs: 0, sleptMs: 0 });
});

describe("by its clocks", () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }),
  );
  afterEach(() => void vi.useRealTimers());

  /** A process that waits, whose clocks pass by themselves and may jump. */
  function watched() {
    const jumps = { idle: 0, uptime: 0 };
    const stop = detectSuspension({
      idleMs: () => performance.now() + jumps.idle,
      uptimeMs: () => performance.now() + jumps.uptime,
    });
    return { jumps, stop };
  }

  test("several stops are added up; short delays, as of a machine with much to do, are none", () => {
    const { jumps, stop } = watched();
    for (const jump of [0, 3_000, 0, 900, 0, 1_500]) {
      jumps.idle += jump;
      vi.advanceTimersByTime(250);
    }
    expect(stop()).toEqual({ suspendedMs: 4_500, sleptMs: 0 });
  });

  test("one that lasts until the watching ends counts, and nothing after that", () => {
    const { jumps, stop } = watched();
    jumps.idle = 5_000;
    expect(stop()).toMatchObject({ suspendedMs: 4_750 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("the sleep of the machine is what only one of its clocks knows of", () => {
    const { jumps, stop } = watched();
    vi.advanceTimersByTime(60_000);
    jumps.uptime = 720_000;
    expect(stop()).toEqual({ suspendedMs: 0, sleptMs: 720_000 });
  });

  test("a clock that is not there, or does not agree to the second, tells of no sleep", () => {
    const stop = detectSuspension({ idleMs: () => 0, uptimeMs: () => null });
    vi.advanceTimersByTime(1_000);
    expect(stop().sleptMs).toBe(0);
    const off = watched();
    off.jumps.uptime = 999;
    expect(off.stop().sleptMs).toBe(0);
  });
});
