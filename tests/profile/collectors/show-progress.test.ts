import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CollectContext } from "../../../src/profile/collection/collector.ts";
import { type Progress, silentProgress } from "../../../src/profile/collection/progress.ts";
import { showProgress } from "../../../src/profile/collectors/show-progress.ts";
import type { Workload } from "../../../src/profile/workload/workload.ts";

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
    const stop = showProgress(workload, contextWith({ update: () => {}, stop: () => {} }), text);
    vi.advanceTimersByTime(10_000);
    stop();
    clock.mockRestore();
    expect(text).toHaveBeenCalledTimes(asked);
    expect(vi.getTimerCount()).toBe(0);
  });
});
