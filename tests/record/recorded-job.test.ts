import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type AttemptEnd,
  begun,
  ended,
  readJobState,
  writeJobState,
} from "../../src/record/job-state.ts";
import { jobFile } from "../../src/record/layout.ts";
import { beginJob, countedExitCode, resultOf } from "../../src/record/recorded-job.ts";
import { canMount, fill, withDisk } from "../cli/mounts.ts";

describe("recorded job", () => {
  test.skipIf(!canMount("ends of jobs on full disks")).each([true, false])(
    "a job that ran is recorded also where the disk is full by then (durable: %s)",
    (durable) =>
      withDisk("size=64k", (disk) => {
        const job = beginJob(disk, 3, { durable });
        fill(disk);
        expect(() => beginJob(disk, 4, { durable })).toThrow("ENOSPC");
        job.end({ status: "completed", exitCode: 0, returnValue: { loss: 0.5 } });
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
        const end = { status: "completed", exitCode: 0, returnValue: "x".repeat(65_536) } as const;
        expect(() => job.end(end)).toThrow(
          `ENOSPC: no space left on device, write '${jobFile(disk, 3)}'`,
        );
        expect(readJobState(disk, 3)).toEqual(before);
        expect(statSync(jobFile(disk, 3)).size).toBe(size);
      }),
  );

  test.each([
    // A sweep that is cancelled says so of jobs that failed because of it, too.
    ["basic", "stopped", 1, { exitCode: 1, isLeftUndone: true }],
    ["basic", "stopped", 143, { exitCode: 143, isLeftUndone: true }],
    ["basic", "failed", 137, { exitCode: 137 }],
    ["slurm", "stopped", 143, { exitCode: 1, isLeftUndone: true }],
    ["slurm", "stopped", null, { exitCode: 1, isLeftUndone: true }],
    ["slurm", "failed", 137, { exitCode: 1 }],
    ["slurm", "failed", 7, { exitCode: 7 }],
  ] as const)(
    "what a job came to is told from its record: %s, %s with %s",
    (launcher, status, exitCode, expected) => {
      const folder = mkdtempSync(join(tmpdir(), "hydraconf-recorded-"));
      const details = launcher === "slurm" ? { details: { scheduler: "7_1" } } : {};
      const end: AttemptEnd = { status, exitCode, error: "why" };
      writeJobState(folder, ended(begun(3, undefined, details), end));
      const job = { number: 3, outputDir: "/s/3", overrides: ["x=1"] };
      expect(resultOf(folder, job, (line) => line)).toEqual({
        ...job,
        status: "failed",
        error: "why",
        returnValue: undefined,
        ...expected,
      });
    },
  );
});

describe("counted exit code", () => {
  const codeAfter = (exitCode: number, details?: Readonly<Record<string, string>>) =>
    countedExitCode(
      ended(begun(0, undefined, details && { details }), { status: "stopped", exitCode }),
    );

  test("a signal stops a sweep where its own job had it, and not where a scheduler's had", () => {
    expect(codeAfter(130)).toBe(130);
    expect(codeAfter(143, { scheduler: "7_0" })).toBe(1);
    expect(codeAfter(3, { scheduler: "7_0" })).toBe(3);
    expect(countedExitCode(begun(0, undefined))).toBeNull();
  });
});
