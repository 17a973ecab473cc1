import { expect, test } from "vitest";
import { begun } from "../../../src/app/record/job-state.ts";
import { NO_ACTIVITY, sweepJobStatus } from "../../../src/app/sweep/job-status.ts";

const inQueue = (phase: "waiting" | "running") => ({
  ...NO_ACTIVITY,
  scheduled: new Map([[0, { number: 0, id: "7_0", phase, state: "PENDING", pendingReason: null }]]),
});

/** As it began on a node, of which nobody here can say whether it runs. */
function begunElsewhere() {
  const state = begun(0, undefined);
  const [attempt] = state.attempts;
  if (attempt === undefined) throw new Error("no attempt");
  return { ...state, attempts: [{ ...attempt, host: "a-node", pid: 1, birth: null }] };
}

test("a job whose node was lost is queued once its scheduler has put it back", () => {
  const lost = begunElsewhere();
  expect(sweepJobStatus(0, lost, inQueue("waiting")).status).toBe("queued");
  expect(sweepJobStatus(0, lost, inQueue("running")).status).toBe("running");
});

test("one that has begun since the scheduler was asked runs", () => {
  expect(sweepJobStatus(0, begun(0, undefined), inQueue("waiting")).status).toBe("running");
});
