import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { slurmLauncher } from "../../../src/app/plugins/slurm/slurm-launcher.ts";
import { noteSubmissions, slurmFolder } from "../../../src/app/plugins/slurm/submissions.ts";
import { begun, ended, readJobState, writeJobState } from "../../../src/app/record/job-state.ts";
import { jobsFolder, launcherFile, sweepFolder } from "../../../src/app/record/layout.ts";
import { cancelSweep } from "../../../src/app/sweep/cancel.ts";
import { sweepJobStatus } from "../../../src/app/sweep/job-status.ts";
import { readSweepStatus } from "../../../src/app/sweep/status.ts";
import { thisProcess } from "../../../src/foundation/system/process-identity.ts";
import { factsIn, jobOf, writeSweep } from "../record/written.ts";

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
      writeJobState(folder, ended(running, { endedBy: { by: "itself" }, exitCode: 0 }));
    return kill.call(process, pid, signal);
  });
  return { directory, state: () => readJobState(folder, 0), looks: () => looks };
}

describe("a job that records its end while it is looked at has ended", () => {
  test.each([1, 2, 3, 4])("to cancel, at look %i", async (look) => {
    const { directory, looks, state } = endingAt(look);
    await cancelSweep({ directory, env: {}, launchers: [slurmLauncher], say: () => {} });
    expect(looks()).toBeGreaterThanOrEqual(look);
    expect(state()?.status).toBe("completed");
  });

  test("to status", async () => {
    const { directory } = endingAt(1);
    const { view } = await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
    expect(view.counts).toEqual({ completed: 1 });
  });
});

test("a driver that ends while it is looked at has said by then that no more jobs are to come", async () => {
  const { directory, folder, driver } = drivenSweep();
  const { kill } = process;
  vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    if (pid === NOBODY && existsSync(launcherFile(folder))) {
      writeJobState(folder, ended(begun(0, undefined), { endedBy: { by: "itself" }, exitCode: 0 }));
      writeSweep(folder, factsIn(directory));
      rmSync(launcherFile(folder));
    }
    return kill.call(process, pid, signal);
  });
  writeFileSync(launcherFile(folder), JSON.stringify(driver));
  const { view } = await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
  expect(view).toMatchObject({
    driver: null,
    exit_code: 0,
    more_to_come: false,
    counts: { completed: 1 },
  });
});

test("a driver that comes while Slurm is asked drives what was missing before", async () => {
  const { directory, folder, driver } = drivenSweep();
  mkdirSync(slurmFolder(folder), { recursive: true });
  noteSubmissions(folder, [{ script: "/1.sh", array: "7", jobs: [{ number: 1, attempts: 0 }] }]);
  const claim = join(directory, "claim");
  writeFileSync(claim, JSON.stringify({ ...driver, ...thisProcess() }));
  const bin = mkdtempSync(join(tmpdir(), "hydraconf-comes-"));
  const script = `#!/bin/sh\n/bin/cp '${claim}' '${launcherFile(folder)}'\necho '{"jobs": []}'\n`;
  for (const name of ["squeue", "scontrol"])
    writeFileSync(join(bin, name), script, { mode: 0o755 });
  const { view } = await readSweepStatus({
    directory,
    env: { PATH: bin },
    launchers: [slurmLauncher],
  });
  expect(view).toMatchObject({ driver: { pid: process.pid }, counts: { queued: 1 } });
});

test("a job of a batch that its driver came to before it was ended is stopped once it is cancelled", async () => {
  const { directory, folder, driver } = drivenSweep();
  writeFileSync(launcherFile(folder), JSON.stringify(driver));
  const { kill } = process;
  let hasEnded = false;
  vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
    if (pid !== NOBODY || hasEnded) return kill.call(process, pid, signal);
    hasEnded = signal === "SIGTERM";
    if (hasEnded) {
      const state = begun(1, undefined);
      const attempts = state.attempts.map((one) => ({ ...one, pid: NOBODY }));
      writeJobState(folder, { ...state, attempts });
      writeSweep(folder, factsIn(directory), [jobOf(0), jobOf(1)]);
      rmSync(launcherFile(folder));
    }
    return true;
  });
  expect(await cancelSweep({ directory, env: {}, launchers: [slurmLauncher], say: () => {} })).toBe(
    true,
  );
  expect(readJobState(folder, 1)?.status).toBe("stopped");
});

/** A sweep of one job that more are to come to, and a process that would drive it. */
function drivenSweep() {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-driven-"));
  const folder = sweepFolder(directory);
  mkdirSync(jobsFolder(folder), { recursive: true });
  writeSweep(folder, factsIn(directory, { more_to_come: true }));
  return { directory, folder, driver: { ...thisProcess(), pid: NOBODY, birth: null } };
}

test.each([
  ["waiting", "queued"],
  ["running", "running"],
  ["over", "stopped"],
] as const)("a job that was stopped and is '%s' in the scheduler is %s", (phase, status) => {
  const state = ended(begun(0, undefined), {
    endedBy: { by: "signal", signal: "SIGTERM" },
    exitCode: 143,
  });
  const job = { number: 0, id: "7_0", phase, state: "", pendingReason: null };
  const prospect = {
    isDriven: false,
    scheduled: new Map([[0, job]]),
    unanswered: new Set<number>(),
  };
  expect(sweepJobStatus(0, state, prospect)).toEqual({ status });
});

test("a job whose process is gone without a result is missing, and stopped once it is cancelled", async () => {
  const { directory, state } = endingAt(Number.POSITIVE_INFINITY);
  expect(
    (await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] })).view.counts,
  ).toEqual({ missing: 1 });
  await cancelSweep({ directory, env: {}, launchers: [slurmLauncher], say: () => {} });
  expect(state()).toMatchObject({
    status: "stopped",
    attempts: [{ error: `cancelled: process ${NOBODY} is gone` }],
  });
});
