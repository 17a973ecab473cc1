import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { readJobState } from "../../../src/app/sweep/record/job-state.ts";
import { jobFile } from "../../../src/app/sweep/record/layout.ts";
import { beginJob } from "../../../src/app/worker/recorded-job.ts";
import { canMount, fill, withDisk } from "../mounts.ts";

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
