import { mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Ender } from "../../../src/app/job/ender.ts";
import {
  type Attempt,
  type AttemptEnd,
  begun,
  ended,
  type JobState,
  readJobState,
  recordedEnder,
  writeJobState,
} from "../../../src/app/record/job-state.ts";
import { clearCancellation, noteCancellation } from "../../../src/app/record/launcher-claim.ts";
import { jobFile, jobsFolder, prunedFile } from "../../../src/app/record/layout.ts";
import {
  beginJob,
  endWhenAsked,
  notePruned,
  resultOf,
  signalledBy,
} from "../../../src/app/record/recorded-job.ts";
import { canMount, fill, withDisk } from "../cli/mounts.ts";

describe("recorded job", () => {
  test.skipIf(!canMount("ends of jobs on full disks")).each([true, false])(
    "a job that ran is recorded also where the disk is full by then (durable: %s)",
    (durable) =>
      withDisk("size=64k", (disk) => {
        const job = beginJob(disk, 3, { durable });
        fill(disk);
        expect(() => beginJob(disk, 4, { durable })).toThrow("ENOSPC");
        job.end({ endedBy: { by: "itself" }, exitCode: 0, returnValue: { loss: 0.5 } });
        expect(readJobState(disk, 3)).toMatchObject({
          status: "completed",
          attempts: [{ exit_code: 0 }],
          return_value: { loss: 0.5 },
        });
      }),
  );

  test.skipIf(!canMount("ends of jobs on full disks"))(
    "a result that the record has no room for leaves it as it was, and the file is named",
    () =>
      withDisk("size=64k", (disk) => {
        const job = beginJob(disk, 3);
        const before = readJobState(disk, 3);
        const { size } = statSync(jobFile(disk, 3));
        fill(disk);
        const end = {
          endedBy: { by: "itself" },
          exitCode: 0,
          returnValue: "x".repeat(65_536),
        } as const;
        expect(() => job.end(end)).toThrow(
          `ENOSPC: no space left on device, write '${jobFile(disk, 3)}'`,
        );
        expect(readJobState(disk, 3)).toEqual(before);
        expect(statSync(jobFile(disk, 3)).size).toBe(size);
      }),
  );

  test.each([
    [{ by: "itself" }, 1, { exitCode: 1 }],
    [{ by: "itself" }, 143, { exitCode: 143 }],
    [{ by: "launcher", signal: "SIGTERM" }, 1, { exitCode: 1 }],
    [{ by: "time_limit", limit_ms: 3000 }, null, { exitCode: 1 }],
    [{ by: "scheduler", cause: "preempted" }, null, { exitCode: 1 }],
  ] as const)(
    "what a job came to is told from its record: %o with %s",
    (endedBy, exitCode, expected) => {
      const folder = mkdtempSync(join(tmpdir(), "hydraconf-recorded-"));
      const end: AttemptEnd = { endedBy, exitCode, error: "why" };
      writeJobState(folder, ended(begun(3, undefined), end));
      const job = { number: 3, outputDir: "/s/3", overrides: ["x=1"] };
      expect(resultOf(folder, job, (line) => line)).toEqual({
        ...job,
        status: "failed",
        error: "why",
        returnValue: undefined,
        ...(endedBy.by !== "itself" && { endedBy }),
        ...expected,
      });
    },
  );

  test.each([
    ["by TERM", { by: "signal", signal: "SIGTERM" }, { by: "scheduler", cause: "requeued" }],
    ["with its node", undefined, { by: "scheduler", cause: "requeued" }],
    ["by itself", { by: "itself" }, { by: "itself" }],
  ] as const)(
    "an attempt that ended %s, and that its scheduler starts again",
    (_, by, expected) => {
      const folder = mkdtempSync(join(tmpdir(), "hydraconf-recorded-"));
      const details = { scheduler: "7_1" };
      const first = begun(3, undefined, { details });
      writeJobState(folder, by === undefined ? first : ended(first, { endedBy: by, exitCode: 1 }));
      beginJob(folder, 3, { details });
      expect(readJobState(folder, 3)?.attempts[0]?.ended_by).toEqual(expected);
      // Submitted anew, by a sweep that was resumed: the record says how it was.
      writeJobState(folder, by === undefined ? first : ended(first, { endedBy: by, exitCode: 1 }));
      beginJob(folder, 3, { details: { scheduler: "8_0" } });
      expect(readJobState(folder, 3)?.attempts[0]?.ended_by).toEqual(by);
    },
  );

  test.each([
    ["local", "stopped", 143, { by: "launcher", signal: "SIGTERM" }],
    ["local", "stopped", null, { by: "unknown" }],
    ["local", "failed", 143, { by: "itself" }],
    ["local", "completed", 0, { by: "itself" }],
    ["slurm", "stopped", 143, { by: "scheduler", cause: "unknown" }],
    ["slurm", "timed_out", null, { by: "scheduler", cause: "time_limit" }],
  ] as const)(
    "who ended a job that an early version recorded: %s, %s with %s",
    (launcher, status, exit_code, expected) => {
      const details = launcher === "slurm" ? { details: { scheduler: "7_1" } } : {};
      const state = begun(3, undefined, details);
      const attempts = state.attempts.map((attempt) => ({
        ...attempt,
        ended: attempt.started,
        exit_code,
      }));
      expect(recordedEnder({ ...state, status, attempts })).toEqual(expected);
    },
  );
});

describe("a job that a pruner asks to end", () => {
  test("is pruned whoever records its end, until it starts again", () => {
    const folder = mkdtempSync(join(tmpdir(), "hydraconf-pruned-"));
    const others: Ender = { by: "signal", signal: "SIGTERM" };
    const job = beginJob(folder, 3);
    notePruned(folder, 3, 2.5);
    expect(signalledBy(folder, 3, others)).toEqual({ by: "pruner", step: 2.5 });
    expect(signalledBy(folder, 4, others)).toEqual(others);
    job.end({ endedBy: signalledBy(folder, 3, others), exitCode: null });
    expect(readJobState(folder, 3)).toMatchObject({
      status: "pruned",
      attempts: [{ ended_by: { by: "pruner", step: 2.5 }, error: "pruned at step 2.5" }],
    });
    beginJob(folder, 3);
    expect(signalledBy(folder, 3, others)).toEqual(others);
  });
});

test("a job of a sweep that is being cancelled is ended by that, unless the pruner was first", () => {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-cancelled-"));
  const others: Ender = { by: "signal", signal: "SIGTERM" };
  mkdirSync(jobsFolder(folder));
  noteCancellation(folder);
  expect(signalledBy(folder, 3, others)).toEqual({ by: "cancel" });
  notePruned(folder, 3, 1);
  expect(signalledBy(folder, 3, others)).toEqual({ by: "pruner", step: 1 });
  // As a full disk may leave it.
  writeFileSync(prunedFile(folder, 3), "?");
  expect(signalledBy(folder, 3, others)).toEqual({ by: "cancel" });
  clearCancellation(folder);
  expect(signalledBy(folder, 3, others)).toEqual(others);
});

describe("a job that was asked to end", () => {
  const LATE: Ender = { by: "time_limit", limit_ms: 3000 };
  const end = (endedBy: Ender, exitCode: number) => {
    const state = begun(3, undefined);
    const before = { ...state.attempts[0], uptime_ms: 1_000_000 } as Attempt;
    const done = ended({ ...state, attempts: [before] }, { endedBy, exitCode, returnValue: 5 });
    return {
      ...done,
      attempts: done.attempts.map((attempt) => ({ ...attempt, took_ms: 4000 })),
    };
  };
  const asked = (state: JobState, uptimeMs: number) =>
    endWhenAsked(state, { ender: LATE, uptimeMs });

  test.each([
    ["failed", end({ by: "itself" }, 1)],
    ["failed with the code of a signal", end({ by: "itself" }, 143)],
    ["ended by the signal that it heard", end({ by: "signal", signal: "SIGTERM" }, 143)],
  ])("and then %s was ended by who asked", (_, state) => {
    const after = asked(state, 1_003_000);
    expect(after).toMatchObject({
      status: "timed_out",
      return_value: 5,
      attempts: [{ ended_by: LATE, error: "took longer than 3 s", took_ms: 4000 }],
    });
    expect(after?.attempts[0]?.ended).toBe(state.attempts[0]?.ended);
  });

  test("and completed is completed; one that had failed before has failed", () => {
    expect(asked(end({ by: "itself" }, 0), 1_003_000)).toBeUndefined();
    expect(asked(end({ by: "itself" }, 1), 1_004_001)).toBeUndefined();
    expect(asked(begun(3, undefined), 0)).toBeUndefined();
  });
});
