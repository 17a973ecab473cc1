import { expect, test } from "vitest";
import { begun } from "../../../src/app/sweep/record/job-state.ts";
import { NOBODY, standing } from "../../../src/app/sweep/standing.ts";

const inQueue = (phase: "waiting" | "running") => ({
  ...NOBODY,
  scheduled: new Map([[0, { number: 0, id: "7_0", phase, state: "PENDING", obstacle: null }]]),
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
  expect(standing(0, lost, inQueue("waiting")).status).toBe("queued");
  expect(standing(0, lost, inQueue("running")).status).toBe("running");
});

test("one that has begun since the scheduler was asked runs", () => {
  expect(standing(0, begun(0, undefined), inQueue("waiting")).status).toBe("running");
});
