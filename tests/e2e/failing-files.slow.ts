import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { faultedRuns } from "./faulted-run.ts";

test("each file operation of a run fails, with each error that Linux may answer it with", {
  timeout: 4 * 3_600_000,
}, async () => {
  const sideBySide = Math.min(8, availableParallelism());
  const { faults, operations, outcomes, problems } = await faultedRuns({ sideBySide, step: 1 });
  console.log(`run: operations ${JSON.stringify(operations)}, faults ${faults}`, outcomes);
  expect(problems).toEqual([]);
  expect(faults).toBeGreaterThan(operations.deepProfile);
});
