import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { faultedSweeps } from "./faulted/faulted-sweeps.ts";

/** Every so-many-th fault: all of them take an hour on two processors. */
const step = Number(process.env["HYDRACONF_FAULT_STEP"] ?? 1);
const sideBySide = Math.min(8, availableParallelism());

test.each(["basic", "local"] as const)(
  "each file operation of a sweep (%s) fails, with each error that Linux may answer it with",
  { timeout: 4 * 3_600_000 },
  async (how) => {
    const { faults, operations, outcomes, problems } = await faultedSweeps(how, {
      sideBySide,
      step,
    });
    console.log(`${how}: operations ${JSON.stringify(operations)}, faults ${faults}`, outcomes);
    expect(problems).toEqual([]);
    expect(faults * step).toBeGreaterThan(operations.launcher + operations.worker);
  },
);
