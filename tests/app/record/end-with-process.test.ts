import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Ender } from "../../../src/app/job/ender.ts";
import { failedJob, type JobResult } from "../../../src/app/job/job.ts";
import { endWithWorker } from "../../../src/app/record/end-with-process.ts";

const place = { outputDir: "/out", overrides: [] };
const failed = failedJob(place, new Error("boom"));
const completed: JobResult = {
  ...place,
  status: "completed",
  returnValue: 1,
  error: undefined,
  exitCode: 0,
};

/** The watch of a worker whose record must not be written by it, and of its first settled result. */
function watch(isScheduled: boolean) {
  const end = vi.fn();
  const watched = endWithWorker({
    recorded: { earlierAttempts: 0, end },
    firstLine: String,
    enderOf: (signal): Ender => ({ by: "signal", signal }),
    isScheduled,
    more: ["SIGUSR2"],
  });
  return { watched, end };
}

/** Whether a promise is settled once what is due now has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol("open");
  await vi.advanceTimersByTimeAsync(0);
  return (await Promise.race([promise, Promise.resolve(open)])) !== open;
}

describe("the end of a worker's job", () => {
  let watched: ReturnType<typeof watch>["watched"] | undefined;
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    watched?.release();
    vi.useRealTimers();
  });

  it.each(["SIGTERM", "SIGUSR2"] as const)(
    "of a scheduler is by %s, if that comes after the failure which it caused",
    async (signal) => {
      const one = watch(true);
      watched = one.watched;
      const result = watched.settled(failed);
      expect(await isSettled(result)).toBe(false);
      process.emit(signal, signal);
      expect(await result).toMatchObject({
        status: "failed",
        error: failed.error,
        endedBy: { by: "signal", signal },
      });
      expect(vi.getTimerCount()).toBe(0);
      // It is left to the caller, which has the error.
      expect(one.end).not.toHaveBeenCalled();
    },
  );

  it("of a scheduler is its own, if none comes", async () => {
    watched = watch(true).watched;
    const result = watched.settled(failed);
    await vi.runAllTimersAsync();
    expect(await result).toEqual(failed);
  });

  it("is settled at once if it completed, another process started it, or a signal came before", async () => {
    const one = watch(true);
    watched = one.watched;
    expect(await isSettled(watched.settled(completed))).toBe(true);
    const handled = () => {};
    process.on("SIGTERM", handled);
    process.emit("SIGTERM", "SIGTERM");
    process.off("SIGTERM", handled);
    expect(await isSettled(watched.settled(failed))).toBe(true);
    watched.release();
    watched = watch(false).watched;
    expect(await isSettled(watched.settled(failed))).toBe(true);
  });
});
