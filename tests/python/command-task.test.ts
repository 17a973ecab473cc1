import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endOf } from "../../src/python/running-program.ts";

describe("the end of a program", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("leaves no timer that would keep this process alive", async () => {
    const child = spawn("sh", ["-c", "exit 3"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    expect(await endOf(child)).toEqual({ code: 3, signal: null });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not wait for a process that it left behind, which holds its output open", async () => {
    const child = spawn("sh", ["-c", "sleep 600 & echo $!"], { stdio: ["ignore", "pipe", "pipe"] });
    const [pid] = await once(child.stdout, "data");
    const unref = vi.spyOn(child.stderr as typeof child.stderr & { unref(): void }, "unref");
    const end = endOf(child);
    if (child.exitCode === null) await once(child, "exit");
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), { timeout: 5_000 });
    vi.runAllTimers();
    expect(await end).toEqual({ code: 0, signal: null });
    expect(unref).toHaveBeenCalled();
    process.kill(Number(pid), "SIGKILL");
  });
});
