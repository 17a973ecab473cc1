import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { expect, test } from "vitest";
import { readJobState } from "../../src/app/record/job-state.ts";
import { statOf } from "../../src/foundation/system/process-identity.ts";
import { commandPath } from "../e2e/command.ts";

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(20);
};

const isAlive = (pid: string): boolean => statOf(pid)?.isDead === false;

/** A sweep of one job, whose program notes its number and sleeps. */
async function running() {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-killed-worker-"));
  const noted = join(cwd, "pid");
  const launcher = execa(
    process.execPath,
    [
      ...[
        commandPath("hydraconf"),
        "run",
        "-m",
        "x=1",
        "hydra.sweep.dir=s",
        "hydra/launcher=local",
      ],
      ...["--", "/bin/sh", "-c", `echo $$ >${noted}; sleep 1000`],
    ],
    { cwd, reject: false },
  );
  const read = () => (existsSync(noted) ? readFileSync(noted, "utf8") : "");
  await until(() => read().endsWith("\n"));
  const worker = readJobState(join(cwd, "s/.sweep"), 0)?.attempts.at(-1)?.pid ?? 0;
  return { cwd, launcher, program: read().trim(), worker };
}

/** The shell that waits for the end of a worker: unlike the program, it is not in the worker's group. */
const guardOf = async (worker: number): Promise<string> => {
  const { stdout } = await execa("ps", ["-eo", "pid,ppid,pgid"]);
  const processes = stdout.split("\n").map((line) => line.trim().split(/\s+/));
  const guard = processes.find(
    ([pid, parent, group]) => parent === String(worker) && group === pid,
  );
  return guard?.[0] ?? "";
};

test("a program does not outlive its worker, also where its launcher was killed before", async () => {
  const { cwd, launcher, program, worker } = await running();
  launcher.kill("SIGKILL");
  await launcher;
  expect(isAlive(program)).toBe(true);
  process.kill(worker, "SIGKILL");
  await until(() => !isAlive(program));
  const state = () => readJobState(join(cwd, "s/.sweep"), 0);
  expect(state()?.status).toBe("running");
});

test("nothing is left of a worker that was stopped", async () => {
  const { launcher, program, worker } = await running();
  const guard = await guardOf(worker);
  expect(isAlive(guard)).toBe(true);
  launcher.kill("SIGTERM");
  await launcher;
  await until(() => !isAlive(guard) && !isAlive(String(worker)) && !isAlive(program));
});
