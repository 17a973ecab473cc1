import { afterEach, expect, it, vi } from "vitest";
import { listenForInterrupt } from "../../../../src/app/job/process/interrupt.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("a signal that comes twice at once, from a terminal and from a parent, is one; a later one ends the process", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  const others = process.listenerCount("SIGINT");
  const interrupt = listenForInterrupt();
  expect([interrupt.signal.aborted, interrupt.exitCode()]).toEqual([false, undefined]);
  process.emit("SIGINT", "SIGINT");
  vi.advanceTimersByTime(100);
  process.emit("SIGINT", "SIGINT");
  expect([interrupt.signal.aborted, interrupt.exitCode()]).toEqual([true, 130]);
  expect(kill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  process.emit("SIGINT", "SIGINT");
  expect(kill).toHaveBeenCalledExactlyOnceWith(process.pid, "SIGINT");
  expect(process.listenerCount("SIGINT")).toBe(others);
});

it.each([
  ["SIGINT", 130],
  ["SIGQUIT", 131],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s is one, with its exit code, and nobody listens to it afterwards", (name, code) => {
  const others = process.listenerCount(name);
  const interrupt = listenForInterrupt();
  process.emit(name, name);
  expect([interrupt.signal.aborted, interrupt.exitCode()]).toEqual([true, code]);
  interrupt.release();
  expect(process.listenerCount(name)).toBe(others);
});
