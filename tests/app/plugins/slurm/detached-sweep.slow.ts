import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSubmissions } from "../../../../src/app/plugins/slurm/submissions.ts";
import { launcherOf } from "../../../../src/app/record/launcher-claim.ts";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";
import { until } from "../../../wait.ts";
import { workplace } from "../../sweep/program/start.ts";

const SLURM = "hydra/launcher=slurm";

describe.skipIf(!hasSlurm("sweeps that are left to a real Slurm"))(
  "a sweep that is left to Slurm",
  { concurrent: true },
  () => {
    let slurm: SlurmCluster | undefined;
    beforeAll(async () => {
      slurm = await startSlurm();
    });
    afterAll(() => slurm?.stop());

    const place = () => {
      const made = workplace();
      const env = slurm?.env ?? {};
      return {
        ...made,
        start: (...argv: readonly string[]) => made.start(argv, { env }),
        /** With another `PATH`. */
        startIn: (folder: string, ...argv: readonly string[]) =>
          made.start(argv, { env: { ...env, PATH: `${folder}:${env["PATH"]}` } }),
        sweep: (...argv: readonly string[]) => made.sweep(argv, { env }),
        view: async () => {
          const { stdout } = await made.sweep(["status", "s", "--json"], { env });
          return JSON.parse(String(stdout));
        },
        statuses: (count: number) =>
          Array.from({ length: count }, (_, number) => made.state(number)?.status),
      };
    };

    test("detach, status, wait and collect: nothing of ours runs meanwhile", async () => {
      const { cwd, folder, ran, release, start, sweep, view } = place();
      const { exitCode, stderr, stdout } = await start(
        "-m",
        SLURM,
        "x=1,2,3",
        "do=hold",
        "hydra.launcher.array_parallelism=2",
        "--detach",
      );
      expect([exitCode, stderr]).toEqual([0, ""]);
      expect(stdout).toContain(`3 jobs of the sweep in ${cwd}/s handed to the scheduler`);
      expect(stdout).toContain(`hydraconf sweep wait ${cwd}/s`);
      expect(launcherOf(folder)).toBeUndefined();
      await until(() => ran("begin").length === 2);
      const array = readSubmissions(folder)[0]?.array;
      const { counts, driver, exit_code, jobs } = await view();
      expect({ counts, driver, exit_code }).toEqual({
        counts: { running: 2, queued: 1 },
        driver: null,
        exit_code: null,
      });
      expect(jobs[0].scheduler).toEqual({
        id: `${array}_0`,
        state: "RUNNING",
        pendingReason: null,
      });
      expect(jobs[2].scheduler.id).toBe(`${array}_2`);
      expect(jobs[2].scheduler.state).toMatch(/^PENDING/);
      const shown = String((await sweep("status", "s")).stdout);
      expect(shown).toContain(`${array}_0 RUNNING`);
      expect(shown).toContain("; the scheduler has 3 of them");
      const late = await sweep("wait", "s", "--timeout", "0.5");
      expect(late.exitCode).toBe(124);
      release();
      const waited = await sweep("wait", "s");
      expect(waited.exitCode).toBe(0);
      expect(waited.stdout).toMatch(/3 of 3 jobs completed$/);
      expect([...ran("begin")].sort()).toEqual([0, 1, 2]);
      expect((await sweep("collect", "s")).exitCode).toBe(0);
      const table = JSON.parse(readFileSync(join(cwd, "s/sweep.json"), "utf8"));
      expect(table.jobs.map(({ status }: { status: string }) => status)).toEqual([
        "completed",
        "completed",
        "completed",
      ]);
    });

    test("failures: the exit code of wait is that of the foreground; the dead are recorded", async () => {
      const [front, left] = [place(), place()];
      const sweep = ["-m", SLURM, "x=1", "do=ok,code,kill"];
      const [foreground] = await Promise.all([
        front.start(...sweep),
        left.start(...sweep, "--detach"),
      ]);
      const waited = await left.sweep("wait", "s");
      expect([foreground.exitCode, waited.exitCode]).toEqual([4, 4]);
      expect(left.statuses(3)).toEqual(["completed", "failed", "failed"]);
      expect(left.state(2)?.attempts.at(-1)?.error).toContain(
        "Slurm: its script ended with code 137",
      );
    });

    test("a job that died without recording it is recorded by the first command that looks", async () => {
      const { ran, start, state, view } = place();
      await start("-m", SLURM, "x=1", "do=kill", "--detach");
      await until(() => ran("begin").length === 1);
      let seen = await view();
      while (seen.exit_code === null) seen = await view();
      expect(seen).toMatchObject({ exit_code: 1, counts: { failed: 1 } });
      expect(state(0)?.status).toBe("failed");
    });

    test("cancel ends what runs and what waits; --resume runs exactly that", async () => {
      const { cwd, folder, ran, release, start, statuses, sweep, view } = place();
      const parallel = "hydra.launcher.array_parallelism=2";
      await start("-m", SLURM, "x=1,2", "do=hold,ok", parallel, "--detach");
      await until(() => ran("end").length === 1 && ran("begin").length === 3);
      const done = ran("end");
      const cancelled = await sweep("cancel", "s");
      expect(cancelled.exitCode).toBe(0);
      expect(cancelled.stdout).toContain("Cancelled; ");
      expect(slurm?.command("squeue", "--noheader", `--jobs=${arraysOf(folder)}`).trim()).toBe("");
      const before = await view();
      expect(before.jobs.filter(({ status }: { status: string }) => status === "running")).toEqual(
        [],
      );
      const again = await sweep("cancel", "s");
      expect([again.exitCode, again.stdout]).toEqual([
        0,
        expect.stringContaining("Nothing of it is running"),
      ]);
      const completed = new Set([...done, ...ran("end")]);
      const begun = ran("begin").length;
      release();
      const resumed = await start("--resume", join(cwd, "s"), "--detach");
      expect(resumed.stdout).toContain(`${4 - completed.size} jobs of the sweep`);
      expect((await sweep("wait", "s")).exitCode).toBe(0);
      expect(statuses(4)).toEqual(Array.from({ length: 4 }, () => "completed"));
      const rerun = ran("begin").slice(begun);
      expect(rerun.filter((number) => completed.has(number))).toEqual([]);
      expect(rerun).toHaveLength(4 - completed.size);
    });

    test("jobs that Slurm has are run by no other launcher, and by no other sweep", async () => {
      const { ran, start, sweep } = place();
      await start("-m", SLURM, "x=1", "do=hold", "--detach");
      await until(() => ran("begin").length === 1);
      const other = await start("--resume", "s", "hydra/launcher=local");
      expect([other.exitCode, other.stderr]).toEqual([
        1,
        expect.stringMatching(
          /The scheduler still has 1 job of the sweep.*\n(.*\n)*.*sweep cancel/,
        ),
      ]);
      const fresh = await start("-m", "x=1,2");
      expect([fresh.exitCode, fresh.stderr]).toEqual([
        1,
        expect.stringContaining("The scheduler still has 1 job of an earlier sweep"),
      ]);
      expect(ran("begin")).toEqual([0]);
      expect((await sweep("cancel", "s")).exitCode).toBe(0);
      const local = await start("--resume", "s", "hydra/launcher=local", "--detach");
      expect([local.exitCode, local.stderr]).toEqual([0, ""]);
      await until(() => ran("begin").length === 2);
      expect((await sweep("cancel", "s")).exitCode).toBe(0);
    });

    test("cancel ends the process that follows the jobs, and the jobs", async () => {
      const { folder, ran, start, sweep, view } = place();
      await start(
        "-m",
        SLURM,
        "x=1,2,3",
        "do=hold",
        "hydra.launcher.array_parallelism=2",
        "hydra.sweeper.max_batch_size=2",
        "--detach",
      );
      const driver = launcherOf(folder)?.pid;
      await until(() => ran("begin").length === 2);
      const cancelled = await sweep("cancel", "s");
      expect([cancelled.exitCode, cancelled.stderr]).toEqual([
        0,
        expect.stringMatching(`Ending process ${driver}.*\nEnding 2 jobs in the scheduler`),
      ]);
      expect(launcherOf(folder)).toBeUndefined();
      expect((await view()).counts).toEqual({ stopped: 2, missing: 1 });
      expect(readSubmissions(folder)).toHaveLength(1);
      expect((await sweep("wait", "s")).exitCode).toBe(1);
    });

    test("a process follows the jobs for callbacks that wait for the sweep's end", async () => {
      const { folder, lines, release, start, sweep } = place();
      const { exitCode, stdout } = await start(
        "-m",
        SLURM,
        "x=1,2",
        "do=hold",
        "+hydra.callbacks.tell._target_=prog.Tell",
        "--detach",
      );
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`Process ${launcherOf(folder)?.pid} runs the sweep`);
      release();
      expect((await sweep("wait", "s")).exitCode).toBe(0);
      const told = lines("ran.txt").filter((line) => line.startsWith("sweep "));
      expect(told).toEqual(["sweep begins", "sweep ends 2"]);
    });

    test("Ctrl-C before all is handed over takes back what was", async () => {
      const { folder, ran, sweep, ...made } = place();
      const gate = join(made.cwd, "gate");
      const held = `sbatch "$@"; while [ ! -e '${gate}' ]; do sleep 0.1; done`;
      const submitting = withSbatch(made.cwd, held);
      const leaving = made.startIn(submitting, "-m", SLURM, "x=1,2", "do=hold", "--detach");
      await until(() => readSubmissions(folder).length === 1);
      await until(() => ran("begin").length === 2);
      leaving.kill("SIGINT");
      writeFileSync(gate, "");
      const { exitCode, stderr, stdout } = await leaving;
      expect([exitCode, stdout]).toEqual([130, expect.not.stringContaining("handed to")]);
      expect(stderr).toMatch(/Ending 2 jobs in the scheduler\n.*was stopped before it started/);
      expect(slurm?.command("squeue", "--noheader", `--jobs=${arraysOf(folder)}`).trim()).toBe("");
      expect((await sweep("cancel", "s")).stdout).toContain("Nothing of it is running");
      expect(ran("end")).toEqual([]);
    });

    test("an sbatch that is killed before it answers: nothing is submitted twice", async () => {
      const { folder, ran, release, start, sweep, ...made } = place();
      const mute = withSbatch(made.cwd, 'sbatch "$@" >/dev/null; kill -9 $$');
      const left = await made.startIn(mute, "-m", SLURM, "x=1,2", "do=hold", "--detach");
      expect([left.exitCode, left.stderr]).toEqual([
        1,
        expect.stringContaining("Slurm does not report whether it has the jobs"),
      ]);
      expect(readSubmissions(folder)).toMatchObject([{ array: null }]);
      const resumed = await start("--resume", "s", "--detach");
      expect([resumed.exitCode, resumed.stderr]).toEqual([0, ""]);
      release();
      expect((await sweep("wait", "s")).exitCode).toBe(0);
      expect([...ran("begin")].sort()).toEqual([0, 1]);
      expect(readSubmissions(folder)).toHaveLength(1);
    });

    test("an answer of sbatch that is lost: its array is found, and nothing is submitted twice", async () => {
      const { folder, ran, release, sweep, ...made } = place();
      const lossy = withSbatch(
        made.cwd,
        `echo >>tries
        sbatch "$@" >/dev/null
        echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2
        exit 1`,
      );
      const left = await made.startIn(lossy, "-m", SLURM, "x=1,2", "do=hold", "--detach");
      expect([left.exitCode, left.stderr]).toEqual([
        0,
        "Slurm does not accept jobs at the moment: Batch job submission failed: Socket timed out on send/recv operation; trying again in 1 s",
      ]);
      expect(made.lines("tries")).toHaveLength(1);
      expect(readSubmissions(folder)).toHaveLength(1);
      release();
      expect((await sweep("wait", "s")).exitCode).toBe(0);
      expect([...ran("begin")].sort()).toEqual([0, 1]);
    });

    test("jobs of an sbatch that returns after the sweep was resumed run nothing", async () => {
      const { folder, ran, release, start, sweep, ...made } = place();
      const gate = join(made.cwd, "gate");
      // It has read its script, the last of its arguments, before it gets stuck.
      const late = withSbatch(
        made.cwd,
        `for word; do shift; script=$word; set -- "$@" "$word"; done
        cp "$script" '${gate}.sh'
        while [ ! -e '${gate}' ]; do sleep 0.1; done
        count=$#; for word; do shift; count=$((count - 1)); [ $count = 0 ] || set -- "$@" "$word"; done
        sbatch "$@" '${gate}.sh' >'${gate}.said'`,
      );
      const left = made.startIn(late, "-m", SLURM, "x=1,2", "do=hold", "--detach");
      await until(() => existsSync(`${gate}.sh`));
      left.kill("SIGKILL");
      await left;
      expect((await start("--resume", "s", "--detach")).exitCode).toBe(0);
      await until(() => ran("begin").length === 2);
      writeFileSync(gate, "");
      const array = () => made.lines("gate.said")[0];
      await until(() => array() !== undefined);
      const queue = () =>
        slurm?.command(
          "squeue",
          "--noheader",
          "--states=PENDING,RUNNING,COMPLETING",
          "--format=%F",
        ) ?? "";
      // It is over, or has run what it should not: that would be held.
      await until(
        () =>
          !queue()
            .split("\n")
            .includes(array() ?? "") || ran("begin").length > 2,
      );
      expect([...ran("begin")].sort()).toEqual([0, 1]);
      release();
      expect((await sweep("wait", "s")).exitCode).toBe(0);
      expect([...ran("begin")].sort()).toEqual([0, 1]);
      expect(readSubmissions(folder)).toHaveLength(1);
    });

    test("where a decision is left to make, a process follows the jobs", async () => {
      const { folder, ran, release, start, sweep } = place();
      // The third lasts until the driver has decided, so that the fourth cannot have begun.
      const { exitCode, stdout } = await start(
        "-m",
        SLURM,
        "do=fail,hold",
        "x=1,2",
        "hydra.launcher.array_parallelism=1",
        "hydra.launcher.on_failure=stop",
        "--detach",
      );
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^Process \d+ runs the sweep/m);
      await until(() => ran("begin").length > 0 && slurm?.waiting(folder) === 0);
      release();
      const waited = await sweep("wait", "s");
      expect(waited.exitCode).toBe(1);
      expect(ran("begin").length).toBeLessThan(4);
      expect(launcherOf(folder)).toBeUndefined();
    });
  },
);

/** A folder with an `sbatch` of its own, which runs the real one. */
function withSbatch(cwd: string, script: string): string {
  const folder = join(cwd, "bin");
  mkdirSync(folder);
  const real = `PATH=\${PATH#*:}\n`;
  writeFileSync(join(folder, "sbatch"), `#!/bin/sh\n${real}${script}\n`, { mode: 0o755 });
  return folder;
}

const arraysOf = (folder: string): string =>
  readSubmissions(folder)
    .map(({ array }) => array)
    .join(",");
