import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { summary } from "../../../../src/app/cli/sweep-command.ts";
import { createSlurm } from "../../../../src/app/plugins/slurm/client.ts";
import { slurmLauncher } from "../../../../src/app/plugins/slurm/slurm-launcher.ts";
import { noteSubmissions, slurmFolder } from "../../../../src/app/plugins/slurm/submissions.ts";
import { begun, ended, writeJobState } from "../../../../src/app/record/job-state.ts";
import { claimSweep } from "../../../../src/app/record/launcher-claim.ts";
import { jobsFolder, sweepFolder } from "../../../../src/app/record/layout.ts";
import { readSweepStatus } from "../../../../src/app/sweep/status.ts";
import { waitForSweep } from "../../../../src/app/sweep/wait.ts";
import { until } from "../../../wait.ts";
import { factsIn, jobOf, writeSweep } from "../../record/written.ts";
import { workplace } from "../../sweep/program/start.ts";

/**
 * Slurm's commands as a site wraps them, none of which comes back: what hangs is not the script, but what that has started. It
 * says itself who it is, so that none is left behind by a script that is killed before it could.
 */
function silentSlurm() {
  const bin = mkdtempSync(join(tmpdir(), "hydraconf-silent-"));
  const hung = join(bin, "hung");
  for (const name of ["squeue", "scontrol"])
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nsh -c 'echo $$ >> "${hung}"; exec sleep 100000' &\nwait\n`,
      {
        mode: 0o755,
      },
    );
  const pids = () => {
    try {
      return readFileSync(hung, "utf8").split("\n").slice(0, -1).map(Number);
    } catch {
      return [];
    }
  };
  // What is left of an answer that nobody waits for is ended with it.
  onTestFinished(() => until(() => !pids().some(isRunning)));
  return { env: { PATH: [bin, process.env["PATH"]].join(delimiter) }, asked: () => pids().length };
}

/** What was killed stays as a zombie where nobody asks for its end. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function submittedIn(directory: string, array: string | null): string {
  const folder = sweepFolder(directory);
  mkdirSync(jobsFolder(folder), { recursive: true });
  mkdirSync(slurmFolder(folder), { recursive: true });
  const launcher = "hydraconf.SlurmLauncher";
  writeSweep(folder, factsIn(directory, { launcher, launcher_choice: "slurm" }));
  noteSubmissions(folder, [{ script: "/s/1.sh", array, jobs: [{ number: 0, attempts: 0 }] }]);
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
  const waited = waitForSweep({
    directory,
    launchers: [slurmLauncher],
    env,
    signal: stop.signal,
    onHeld: () => {},
  });
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
  expect([exitCode, stderr]).toEqual([
    130,
    expect.stringContaining("The waiting has ended, but the sweep continues"),
  ]);
});

/** A squeue that comes back at once, and has asked its controller in vain. */
function unreachableSlurm() {
  const bin = mkdtempSync(join(tmpdir(), "hydraconf-unreachable-"));
  const said = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)";
  for (const name of ["squeue", "scontrol"])
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\necho "$*" >> '${join(bin, "asked")}'\necho '${said}' >&2\nexit 1\n`,
      { mode: 0o755 },
    );
  const asked = () => readFileSync(join(bin, "asked"), "utf8").split("\n").slice(0, -1);
  return { env: { PATH: bin }, asked };
}

test("a question is given up once its time is over, whatever the command has started, and is not asked in other words", async () => {
  const { asked, env } = silentSlurm();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = createSlurm({ ...process.env, ...env }).tasks(["7"]);
  await until(() => asked() > 0);
  vi.advanceTimersByTime(90_000);
  expect(await answer).toBeUndefined();
  expect(asked()).toBe(1);
});

test("how large arrays may be is not guessed of a Slurm that is silent", async () => {
  const { asked, env } = silentSlurm();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const size = createSlurm({ ...process.env, ...env }).maxArraySize();
  await until(() => asked() > 0);
  vi.advanceTimersByTime(90_000);
  await expect(size).rejects.toMatchObject({ code: "slurm/busy" });
});

test("sbatch has the time in which it tries by itself: while the queue is full, that is two minutes", async () => {
  const bin = mkdtempSync(join(tmpdir(), "hydraconf-patient-"));
  const wait = "while [ ! -e go ]; do sleep 0.05; done";
  writeFileSync(join(bin, "sbatch"), `#!/bin/sh\ncd '${bin}'; : >asked; ${wait}; echo 7\n`, {
    mode: 0o755,
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const array = createSlurm({ PATH: [bin, process.env["PATH"]].join(delimiter) }).submit([], "s");
  await until(() => existsSync(join(bin, "asked")));
  vi.advanceTimersByTime(240_000);
  writeFileSync(join(bin, "go"), "");
  expect(await array).toBe("7");
});

test.each([
  ["the number of their array is known", "7"],
  ["it died before it told the number of their array", null],
])(
  "jobs that Slurm was given are not missing because it does not answer, where %s",
  async (_, array) => {
    const directory = mkdtempSync(join(tmpdir(), "hydraconf-silent-sweep-"));
    submittedIn(directory, array);
    const { asked, env } = unreachableSlurm();
    const { view } = await readSweepStatus({ directory, env, launchers: [slurmLauncher] });
    expect(view).toMatchObject({ counts: { queued: 1 }, driver: null, exit_code: null });
    expect(view.scheduler_problem).toMatch(/^Slurm does not report the state of the sweep's jobs/);
    expect(summary(view)).toBe(`0 of 1 job completed, 1 queued; ${view.scheduler_problem}\n`);
    // It is not asked again for what it has not answered.
    expect(asked().filter((question) => !question.includes("--json"))).toHaveLength(1);
  },
);

test("jobs that Slurm was given are not missing where it cannot be asked", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-silent-sweep-"));
  submittedIn(directory, "7");
  const { view } = await readSweepStatus({
    directory,
    env: { PATH: directory },
    launchers: [slurmLauncher],
  });
  expect(view).toMatchObject({ counts: { queued: 1 }, exit_code: null });
  expect(summary(view)).toContain("; The Slurm launcher needs 'squeue'");
});

test("a job that has left the queue is not missing because scontrol alone does not answer", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-silent-sweep-"));
  const folder = submittedIn(directory, "7");
  writeSweep(
    folder,
    factsIn(directory),
    [0, 1, 2].map((number) => jobOf(number)),
  );
  const jobs = [0, 1].map((number) => ({ number, attempts: 0 }));
  noteSubmissions(folder, [{ script: "/s/1.sh", array: "7", jobs }]);
  const { env } = unreachableSlurm();
  const waits = { array_job_id: 7, array_task_id: 1, job_state: "PENDING" };
  const squeue = `#!/bin/sh\necho '${JSON.stringify({ jobs: [waits] })}'\n`;
  writeFileSync(join(env.PATH, "squeue"), squeue, { mode: 0o755 });
  const { view } = await readSweepStatus({ directory, env, launchers: [slurmLauncher] });
  expect(view.jobs.map(({ scheduler, status }) => [status, scheduler?.id])).toEqual([
    ["queued", undefined],
    ["queued", "7_1"],
    ["missing", undefined],
  ]);
  expect(view.scheduler_problem).toMatch(/^Slurm does not report the state of the sweep's jobs/);
  expect(summary(view)).toBe(
    `0 of 3 jobs completed, 2 queued, 1 missing; the scheduler has 1 of them; ${view.scheduler_problem}\n`,
  );
});

test("what a silent Slurm was not given, or has ended, is as its record says", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-silent-sweep-"));
  const folder = submittedIn(directory, "7");
  const jobs = [0, 1, 2].map((number) => ({ number, attempts: 0 }));
  writeSweep(
    folder,
    factsIn(directory),
    [0, 1, 2, 3].map((number) => jobOf(number)),
  );
  noteSubmissions(folder, [{ script: "/s/1.sh", array: "7", jobs }]);
  const inTask = (number: number) =>
    begun(number, undefined, { details: { scheduler: `7_${number}` } });
  writeJobState(folder, ended(inTask(0), { endedBy: { by: "itself" }, exitCode: 0 }));
  writeJobState(folder, ended(inTask(1), { endedBy: { by: "itself" }, exitCode: 1 }));
  const { view } = await readSweepStatus({
    directory,
    env: unreachableSlurm().env,
    launchers: [slurmLauncher],
  });
  expect(view.jobs.map(({ status }) => status)).toEqual([
    "completed",
    "failed",
    "queued",
    "missing",
  ]);
  expect(summary(view)).not.toContain("--resume");
});
