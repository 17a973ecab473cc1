import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Workload } from "../../../src/profiler/machine/process.ts";
import {
  type CollectContext,
  type Progress,
  showProgress,
  silentProgress,
  terminalProgress,
} from "../../../src/profiler/tools/tool.ts";

const terminal = () =>
  Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 80,
    cursorTo: () => true,
    moveCursor: () => true,
    clearLine: () => true,
  }) as unknown as NodeJS.WriteStream;

/** All of it: from Node 26 on one `read` gives what one `write` took. */
function written(stream: PassThrough): string {
  const chunks: unknown[] = [];
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) chunks.push(chunk);
  return chunks.join("");
}

describe("terminalProgress", () => {
  it("leaves signals to the code that reports what was recorded", () => {
    const counts = () => ["SIGINT", "SIGTERM", "SIGHUP"].map((name) => process.listenerCount(name));
    const before = counts();
    const progress = terminalProgress(terminal());
    progress.update("recording");
    expect(counts()).toEqual(before);
    progress.stop();
  });

  it("says what goes on, and for how long", () => {
    const stream = terminal();
    const progress = terminalProgress(stream);
    progress.update("recording 3 ranges");
    progress.stop();
    expect(written(stream as unknown as PassThrough)).toMatch(/recording 3 ranges \(\d+\.\d s\)/);
  });

  it("shows a step that may take minutes, with its seconds", () => {
    vi.useFakeTimers();
    const stream = terminal();
    const progress = terminalProgress(stream);
    progress.begin("building");
    vi.advanceTimersByTime(3_000);
    progress.stop();
    const shown = written(stream as unknown as PassThrough);
    expect(shown).toMatch(/building \(3\.\d s\)/);
    vi.advanceTimersByTime(3_000);
    expect(written(stream as unknown as PassThrough)).not.toContain("building");
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("writes such a step as one plain line where nobody watches, and nothing else", () => {
    const stream = Object.assign(new PassThrough(), { isTTY: false });
    const progress = terminalProgress(stream as unknown as NodeJS.WriteStream);
    progress.begin("building");
    progress.update("recording 3 ranges");
    progress.stop();
    expect(progress.isShown).toBe(false);
    expect(written(stream)).toBe("building\n");
  });
});

const workload = { label: "w", argv: ["w"] } as unknown as Workload;
const contextWith = (progress: Progress) => ({ progress }) as unknown as CollectContext;

describe("showProgress", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("reads no recordings if nobody watches: reading takes time from the workload", () => {
    const text = vi.fn(() => "recording");
    const stop = showProgress(workload, contextWith(silentProgress), text);
    vi.advanceTimersByTime(10_000);
    stop();
    expect(text).not.toHaveBeenCalled();
  });

  it.each([
    { tookMs: 1, asked: 51 },
    { tookMs: 400, asked: 3 },
  ])("asks less often where the answer takes $tookMs ms", ({ tookMs, asked }) => {
    const text = vi.fn(() => {
      vi.setSystemTime(Date.now() + tookMs);
      return "recording";
    });
    const clock = vi.spyOn(performance, "now").mockImplementation(() => Date.now());
    const stop = showProgress(workload, contextWith({ ...silentProgress, isShown: true }), text);
    vi.advanceTimersByTime(10_000);
    stop();
    clock.mockRestore();
    expect(text).toHaveBeenCalledTimes(asked);
    expect(vi.getTimerCount()).toBe(0);
  });
});
