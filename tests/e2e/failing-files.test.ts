import { expect, test } from "vitest";
import { faultedRuns } from "./faulted-run.ts";

// Every fault of every operation is tried by `failing-files.slow.ts`.
test.runIf(process.platform === "linux")(
  "a file operation of a run fails: it says so, and what was measured is not lost",
  async () => {
    const { faults, problems } = await faultedRuns({ sideBySide: 1, step: 97 });
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(2);
  },
);
