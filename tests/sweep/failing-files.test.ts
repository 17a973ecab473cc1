import { expect, test } from "vitest";
import { faultedSweeps } from "./faulted/faulted-sweeps.ts";

// Every fault of every operation is tried by `failing-files.slow.ts`.
test.runIf(process.platform === "linux").each([
  ["basic", 17],
  ["local", 131],
] as const)(
  "a file operation of a sweep (%s) fails: it ends with an error that says so, and resumed nothing is lost or done twice",
  async (how, step) => {
    const { faults, outcomes, problems } = await faultedSweeps(how, { sideBySide: 1, step });
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(5);
    expect(outcomes["resumed"] + outcomes["resumed with --retry-failed"]).toBeGreaterThan(0);
  },
);
