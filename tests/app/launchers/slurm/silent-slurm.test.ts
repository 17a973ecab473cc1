import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { slurmFolder, writeSubmissions } from "../../../../src/app/launchers/slurm/submissions.ts";
import { claimSweep } from "../../../../src/app/sweep/record/launcher-claim.ts";
import { jobsFolder, sweepFolder } from "../../../../src/app/sweep/record/layout.ts";
import { waitForSweep } from "../../../../src/app/sweep/wait.ts";
import { until } from "../../../wait.ts";
import { workplace } from "../../sweep/program/start.ts";
import { factsIn, writeSweep } from "../../sweep/record/written.ts";

/** Slurm's commands as a site wraps them, none of which comes back: what hangs is not the script, but what that has started. */
function silentSlurm() {
  const bin = mkdtempSync(join(tmpdir(), "hydraconf-silent-"));
  const hung = join(bin, "hung");
  for (const name of ["squeue", "scontrol"])
    writeFileSync(join(bin, name), `#!/bin/sh\nsleep 100000 &\necho $! >> '${hung}'\nwait\n`, {
      mode: 0o755,
    });
  const pids = () => {
    try {
      return readFileSync(hung, "utf8").split("\n").slice(0, -1).map(Number);
    } catch {
      return [];
    }
  };
  onTestFinished(() => {
    for (const pid of pids()) process.kill(pid, "SIGKILL");
  });
  return { env: { PATH: [bin, process.env["PATH"]].join(delimiter) }, asked: () => pids().length };
}

function submittedIn(directory: string, array: string | null): string {
  const folder = sweepFolder(directory);
  mkdirSync(jobsFolder(folder), { recursive: true });
  mkdirSync(slurmFolder(folder), { recursive: true });
  const launcher = "hydraconf.SlurmLauncher";
  writeSweep(folder, factsIn(directory, { launcher, launcher_choice: "slurm" }));
  writeSubmissions(folder, [{ script: "/s/1.sh", array, jobs: [{ number: 0, attempts: 0 }] }]);
  return folder;
}

test.each([
  ["Slurm alone has the jobs", "7", false],
  ["an array has to be looked for", null, false],
  ["another process follows the jobs", "7", true],
])("who waits is let go at once while Slurm is silent, where %s", async (_, array, isDriven) => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-silent-sweep-"));
  const folder = submittedIn(directory, array);
  if (isDriven) claimSweep(folder);
  const { asked, env } = silentSlurm();
  const stop = new AbortController();
  const waited = waitForSweep({ directory, env, signal: stop.signal, onHeld: () => {} });
  await until(() => asked() > 0);
  stop.abort();
  await waited;
  expect(asked()).toBe(1);
});

test("Ctrl-C ends the waiting while Slurm is silent, and the process with it", async () => {
  const place = workplace();
  submittedIn(join(place.cwd, "s"), "7");
  const { asked, env } = silentSlurm();
  const waiting = place.sweep(["wait", "s"], { env });
  await until(() => asked() > 0);
  waiting.kill("SIGINT");
  const { exitCode, stderr } = await waiting;
  expect([exitCode, stderr]).toEqual([130, expect.stringContaining("only the waiting has ended")]);
});
