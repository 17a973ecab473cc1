import { spawn } from "node:child_process";
import fs, { mkdirSync, mkdtempSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import type { SweepJob } from "../../../../src/app/job/plan-job.ts";
import type { LauncherRequest } from "../../../../src/app/launch/launcher.ts";
import type { LocalSettings } from "../../../../src/app/launch/local/settings.ts";
import { createWorkers, startJob } from "../../../../src/app/launch/local/worker-process.ts";
import {
  begun,
  ended,
  hasEnded,
  readJobState,
  writeJobState,
} from "../../../../src/app/record/job-state.ts";
import { jobsFolder } from "../../../../src/app/record/layout.ts";
import { identityOf, isRunning } from "../../../../src/foundation/system/process-identity.ts";

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** A sweep whose only job runs in a worker that an earlier launcher left. */
function leftRunning() {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-left-"));
  mkdirSync(jobsFolder(folder));
  const worker = spawn("sleep", ["600"], { stdio: "ignore" });
  const state = begun(0, undefined);
  const attempts = state.attempts.map((one) => ({ ...one, ...identityOf(worker.pid ?? 0) }));
  const running = { ...state, attempts };
  writeJobState(folder, running);
  return {
    folder,
    /** Its worker records the end, and is gone. */
    complete() {
      writeJobState(folder, ended(running, { endedBy: { by: "itself" }, exitCode: 0 }));
      worker.kill("SIGKILL");
      while (isRunning(identityOf(worker.pid ?? 0)) === true);
    },
  };
}

/** Does something after the record of the job was read so many times. */
function afterReading(folder: string, times: number, act: () => void): void {
  const read = fs.readFileSync;
  let count = 0;
  vi.spyOn(fs, "readFileSync").mockImplementation(((file: string, ...rest: [BufferEncoding]) => {
    const text = read(file, ...rest);
    if (String(file).startsWith(folder) && ++count === times) act();
    return text;
  }) as typeof fs.readFileSync);
  syncBuiltinESMExports();
}

test.each([1, 2, 3])("a job that ends after look %i at it is not run again", async (looks) => {
  const { complete, folder } = leftRunning();
  afterReading(folder, looks, complete);
  const record = {
    folder,
    endedSince: () => (hasEnded(readJobState(folder, 0)) ? "what it came to" : undefined),
    facts: () => ({ directory: folder }),
  };
  const pool = { take: () => expect.unreachable("it is run again") };
  const start = startJob(
    { number: 0 } as SweepJob,
    true,
    { pool, workers: createWorkers({ isReusing: false }), most: 1 },
    { internals: { record } } as unknown as LauncherRequest,
    {} as LocalSettings,
  );
  if (start.kind === "over") return expect(start.result).toBe("what it came to");
  if (start.kind !== "running") return expect.unreachable(start.kind);
  if (readJobState(folder, 0)?.status === "running") complete();
  expect(await start.running.worker.ended).toMatchObject({ status: "completed" });
});
