import { expect, it } from "vitest";
import { interruptOf } from "../../../src/profile/machine/interrupt.ts";
import { INTERRUPTS } from "../../../src/system/process-signals.ts";

const stoppedBy = (reason?: unknown) => interruptOf(AbortSignal.abort(reason));

it("the signal that asked to stop is told, and any other reason is an interrupt", () => {
  expect(INTERRUPTS.map(stoppedBy)).toEqual(INTERRUPTS);
  expect([undefined, "SIGWINCH", new Error("late")].map(stoppedBy)).toEqual([
    "SIGINT",
    "SIGINT",
    "SIGINT",
  ]);
});
