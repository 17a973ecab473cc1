import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settle } from "../../../../src/app/launchers/slurm/settle.ts";
import type { TaskReport } from "../../../../src/app/launchers/slurm/task-state.ts";
import {
  begun,
  ended,
  type JobState,
  readJobState,
  writeJobState,
} from "../../../../src/app/sweep/record/job-state.ts";

const TASK = { number: 3, array: "7", index: 1, attempts: 0 };
const report = (state: string, exitCode: number | null = null): TaskReport => ({
  array: "7",
  index: 1,
  state,
  reason: null,
  exitCode,
});

const folderWith = (state?: JobState): string => {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-settle-"));
  if (state !== undefined) writeJobState(folder, state);
  return folder;
};
const inTask = (name: string, before?: JobState) => begun(3, before, { details: { slurm: name } });

test("what runs since in another task is not ended by who looked before", () => {
  const first = ended(inTask("7_1"), { status: "stopped", exitCode: 143 });
  const again = inTask("9_0", first);
  const folder = folderWith(again);
  expect(settle(folder, TASK, report("FAILED", 1))).toBe("recorded already");
  expect(readJobState(folder, 3)).toEqual(again);
  const local = begun(3, first, { id: "a start on this machine" });
  writeJobState(folder, local);
  expect(settle(folder, TASK, undefined)).toBe("recorded already");
  expect(readJobState(folder, 3)).toEqual(local);
});

test("a job that said itself that it was stopped is not failed by the code of its script", () => {
  const stopped = ended(inTask("7_1"), { status: "stopped", exitCode: 143, error: "stopped" });
  const folder = folderWith(stopped);
  expect(settle(folder, TASK, report("FAILED", 143))).toEqual({ kind: "ended" });
  expect(readJobState(folder, 3)).toEqual(stopped);
  expect(settle(folder, TASK, report("TIMEOUT"))).toEqual({ kind: "ended" });
  expect(readJobState(folder, 3)?.status).toBe("timed_out");
});

test("a job that could not say how it ended has Slurm's word", () => {
  const folder = folderWith(inTask("7_1"));
  expect(settle(folder, TASK, report("OUT_OF_MEMORY", 0))).toEqual({ kind: "ended" });
  expect(readJobState(folder, 3)).toMatchObject({
    status: "failed",
    attempts: [{ error: "Slurm: it ran out of memory: OUT_OF_MEMORY" }],
  });
});
