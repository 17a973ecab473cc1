import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Ender, processCode } from "../../../src/app/job/ender.ts";
import { failedJob, type JobResult } from "../../../src/app/job/job.ts";
import { endWithProcess, endWithWorker } from "../../../src/app/record/end-with-process.ts";

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

/** The only listeners of a process's events while a job is watched, for whoever else listens in this one. */
function withoutOthers<Result>(event: string, watching: () => Result): Result {
  const others = process.rawListeners(event);
  process.removeAllListeners(event);
  try {
    return watching();
  } finally {
    process.removeAllListeners(event);
    for (const other of others) process.on(event, other as () => void);
  }
}

describe("the end of a job's process", () => {
  const request = (end: (end: unknown) => void) => ({
    recorded: { earlierAttempts: 0, end },
    firstLine: (error: unknown) => `told: ${String(error)}`,
    enderOf: (signal: NodeJS.Signals): Ender => ({ by: "signal", signal }),
  });
  const both = [
    ["its launcher's", (end: () => void) => endWithProcess(request(end))],
    [
      "its own",
      (end: () => void) => endWithWorker({ ...request(end), isScheduled: false, more: [] }),
    ],
  ] as const;

  it.each(both)(
    "before that of the job is recorded as the job's, in %s process",
    (_, watchWith) => {
      withoutOthers("exit", () =>
        withoutOthers("uncaughtExceptionMonitor", () => {
          const end = vi.fn();
          const watched = watchWith(end);
          process.emit("exit", 0);
          process.emit("exit", 3);
          const unasked = (code: number) =>
            `the process ended with code ${code} before the job did`;
          expect(end.mock.calls).toEqual([
            [{ endedBy: { by: "itself" }, exitCode: 1, error: unasked(0) }],
            [{ endedBy: { by: "itself" }, exitCode: 3, error: unasked(3) }],
          ]);
          process.emit("uncaughtExceptionMonitor", new Error("boom"), "uncaughtException");
          process.emit("exit", 7);
          expect(end.mock.lastCall).toEqual([
            { endedBy: { by: "itself" }, exitCode: 7, error: "told: Error: boom" },
          ]);
          watched.release();
          expect([
            process.listenerCount("exit"),
            process.listenerCount("uncaughtExceptionMonitor"),
          ]).toEqual([0, 0]);
        }),
      );
    },
  );

  it("by a signal is that of a failed job, if the signal came before", () => {
    const before = process.listenerCount("SIGTERM");
    const handled = () => undefined;
    const watched = endWithProcess(request(() => undefined));
    expect(watched.judged(failed)).toEqual(failed);
    process.on("SIGTERM", handled);
    process.emit("SIGTERM", "SIGTERM");
    const endedBy: Ender = { by: "signal", signal: "SIGTERM" };
    expect(watched.judged(failed)).toEqual({
      ...failed,
      endedBy,
      exitCode: processCode(endedBy, 1),
    });
    expect(watched.judged(completed)).toEqual(completed);
    watched.release();
    process.off("SIGTERM", handled);
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });

  it("by a signal that the task does not handle is recorded, and comes at once", () => {
    const exit = vi.spyOn(process, "exit").mockImplementation((() => undefined) as never);
    try {
      for (const signal of ["SIGTERM", "SIGUSR2"] as const)
        withoutOthers(signal, () => {
          const { watched, end } = watch(true);
          process.emit(signal, signal);
          const endedBy: Ender = { by: "signal", signal };
          const exitCode = processCode(endedBy, 1);
          expect(end.mock.calls).toEqual([[{ endedBy, exitCode }]]);
          expect(exit).toHaveBeenLastCalledWith(exitCode);
          watched.release();
          expect(process.listenerCount(signal)).toBe(0);
        });
    } finally {
      exit.mockRestore();
    }
  });

  it("is left to a task that handles the signal, and with it the scheduler's further ones", () => {
    const exit = vi.spyOn(process, "exit").mockImplementation((() => undefined) as never);
    const handled = () => undefined;
    try {
      withoutOthers("SIGTERM", () =>
        withoutOthers("SIGUSR2", () => {
          const { watched, end } = watch(true);
          process.on("SIGTERM", handled);
          process.emit("SIGTERM", "SIGTERM");
          process.emit("SIGUSR2", "SIGUSR2");
          expect([end.mock.calls, exit.mock.calls]).toEqual([[], []]);
          process.off("SIGTERM", handled);
          // No longer handled, and none of the scheduler's own.
          process.emit("SIGTERM", "SIGTERM");
          expect(exit).toHaveBeenCalledTimes(1);
          watched.release();
        }),
      );
    } finally {
      exit.mockRestore();
    }
  });

  it("does not wait for a signal of one that another had ended", async () => {
    const { watched } = watch(true);
    const cancelled: JobResult = { ...failed, endedBy: { by: "cancel" } };
    expect(await watched.settled(cancelled)).toEqual(cancelled);
    watched.release();
  });
});
