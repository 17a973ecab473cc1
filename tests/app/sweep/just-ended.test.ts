import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { cancelSweep } from "../../../src/app/sweep/cancel.ts";
import { lookAtSweep } from "../../../src/app/sweep/look.ts";
import {
  begun,
  ended,
  readJobState,
  writeJobState,
} from "../../../src/app/sweep/record/job-state.ts";
import { jobsFolder, sweepFolder } from "../../../src/app/sweep/record/layout.ts";
import { standing } from "../../../src/app/sweep/standing.ts";
import { factsIn, writeSweep } from "./record/written.ts";

/** More than the kernel gives out. */
const NOBODY = 2 ** 22 + 1;

afterEach(() => void vi.restoreAllMocks());

/** A sweep of one job, whose process ends, and records its end before, at the Nth look at it. */
function endingAt(look: number) {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-ending-"));
  const folder = sweepFolder(directory);
  mkdirSync(jobsFolder(folder), { recursive: true });
  writeSweep(folder, factsIn(directory));
  const state = begun(0, undefined);
  const [attempt] = state.attempts;
  if (attempt === undefined) throw new Error("a job that began has an attempt");
  const running = { ...state, attempts: [{ ...attempt, pid: NOBODY }] };
  writeJobState(folder, running);
  const { kill } = process;
  let looks = 0;
  vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    if (pid === NOBODY && ++looks === look)
      writeJobState(folder, ended(running, { status: "completed", exitCode: 0 }));
    return kill.call(process, pid, signal);
  });
  return { directory, state: () => readJobState(folder, 0), looks: () => looks };
}

describe("a job that records its end while it is looked at has ended", () => {
  test.each([1, 2, 3, 4])("to cancel, at look %i", async (look) => {
    const { directory, looks, state } = endingAt(look);
    await cancelSweep({ directory, env: {}, say: () => {} });
    expect(looks()).toBeGreaterThanOrEqual(look);
    expect(state()?.status).toBe("completed");
  });

  test("to status", async () => {
    const { directory } = endingAt(1);
    const { view } = await lookAtSweep(directory, {});
    expect(view.counts).toEqual({ completed: 1 });
  });
});

test.each([
  ["waiting", "queued"],
  ["running", "running"],
  ["over", "stopped"],
] as const)("a job that was stopped and is '%s' in the scheduler is %s", (phase, status) => {
  const state = ended(begun(0, undefined), { status: "stopped", exitCode: 143 });
  const job = { number: 0, id: "7_0", phase, state: "", obstacle: null };
  const prospect = {
    isDriven: false,
    scheduled: new Map([[0, job]]),
    unanswered: new Set<number>(),
  };
  expect(standing(0, state, prospect)).toEqual({ status });
});

test("a job whose process is gone without a word is missing, and stopped once it is cancelled", async () => {
  const { directory, state } = endingAt(Number.POSITIVE_INFINITY);
  expect((await lookAtSweep(directory, {})).view.counts).toEqual({ missing: 1 });
  await cancelSweep({ directory, env: {}, say: () => {} });
  expect(state()).toMatchObject({
    status: "stopped",
    attempts: [{ error: `cancelled: process ${NOBODY} is gone` }],
  });
});
