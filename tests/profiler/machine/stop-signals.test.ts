import { expect, it } from "vitest";
import { INTERRUPTS } from "../../../src/foundation/system/process-signals.ts";
import { interruptOf } from "../../../src/profiler/machine/stop-signals.ts";

const stoppedBy = (reason?: unknown) => interruptOf(AbortSignal.abort(reason));

it("the signal that asked to stop is told, and any other reason is an interrupt", () => {
  expect(INTERRUPTS.map(stoppedBy)).toEqual(INTERRUPTS);
  expect([undefined, "SIGWINCH", new Error("late")].map(stoppedBy)).toEqual([
    "SIGINT",
    "SIGINT",
    "SIGINT",
  ]);
});
