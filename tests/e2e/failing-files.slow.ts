import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { faultedRuns } from "./faulted-run.ts";

/** Every so-many-th fault: all of them take an hour on two processors. */
const step = Number(process.env["HYDRACONF_FAULT_STEP"] ?? 1);

test("each file operation of a run fails, with each error that Linux may answer it with", {
  timeout: 4 * 3_600_000,
}, async () => {
  const sideBySide = Math.min(8, availableParallelism());
  const { faults, operations, outcomes, problems } = await faultedRuns({ sideBySide, step });
  console.log(`run: operations ${JSON.stringify(operations)}, faults ${faults}`, outcomes);
  expect(problems).toEqual([]);
  expect(faults * step).toBeGreaterThan(operations.deepProfile);
});
