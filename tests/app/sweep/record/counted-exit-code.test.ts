import { expect, test } from "vitest";
import { countedExitCode } from "../../../../src/app/sweep/record/counted-exit-code.ts";
import { begun, ended } from "../../../../src/app/sweep/record/job-state.ts";

const after = (exitCode: number, details?: Readonly<Record<string, string>>) =>
  countedExitCode(
    ended(begun(0, undefined, details && { details }), { status: "stopped", exitCode }),
  );

test("a signal stops a sweep where its own job had it, and not where a scheduler's had", () => {
  expect(after(130)).toBe(130);
  expect(after(143, { slurm: "7_0" })).toBe(1);
  expect(after(3, { slurm: "7_0" })).toBe(3);
  expect(countedExitCode(begun(0, undefined))).toBeNull();
});
