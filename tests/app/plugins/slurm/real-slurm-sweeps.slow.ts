import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSlurm } from "../../../../src/app/plugins/slurm/client.ts";
import { slurmSweep } from "../../../../src/app/plugins/slurm/slurm-sweep.ts";
import { noteSubmissions, readSubmissions } from "../../../../src/app/plugins/slurm/submissions.ts";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";
import { until } from "../../../wait.ts";
import { workplace } from "../../sweep/program/start.ts";

const SLURM = "hydra/launcher=submitit_slurm";

describe.skipIf(!hasSlurm("sweeps on a real Slurm"))(
  "a sweep on Slurm",
  { concurrent: true },
  () => {
    let slurm: SlurmCluster;
    beforeAll(async () => {
      slurm = await startSlurm();
    });
    afterAll(() => slurm.stop());

    /** A place with a program that knows this cluster. */
    const place = () => {
      const made = workplace();
      const client = createSlurm(slurm.env);
      return {
        ...made,
        client,
        sweep: slurmSweep(made.folder, client),
        /** `hydraconf sweep ACTION s`, and what it has printed so far. */
        look: (...argv: readonly string[]) => {
          const process = made.sweep(argv, { env: slurm.env });
          let said = "";
          process.stdout?.on("data", (text) => {
            said += text;
          });
          return { process, said: () => said };
        },
        start: (argv: readonly string[], launcher = SLURM, env: Record<string, string> = {}) =>
          made.start(["-m", launcher, ...argv], { env: { ...slurm.env, ...env } }),
        resume: () => made.start(["--resume", "s"], { env: slurm.env }),
        statuses: (count: number) =>
          Array.from({ length: count }, (_, number) => made.state(number)?.status),
      };
    };

    test("each job runs as a task, with its results, in arrays that Slurm accepts", async () => {
      const { cwd, folder, ran, start, state } = place();
      const text = `it's \${x} "$HOME" \`id\` %j\\ #`;
      const { exitCode, stderr, stdout } = await start([
        "x=1,2,3,4,5,6",
        `+text='${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replace("${", "\\${")}'`,
        "hydra.launcher.name='a name; with $(id)'",
        "hydra.launcher.setup=['export FROM_SETUP=yes']",
      ]);
      expect(exitCode, String(stderr)).toBe(0);
      expect(stdout).toContain("Submitted 6 jobs to Slurm");
      expect([...ran("end")].sort()).toEqual([0, 1, 2, 3, 4, 5]);
      expect(state(5)).toMatchObject({
        status: "completed",
        return_value: { x: 6, square: 36 },
      });
      // MaxArraySize of this cluster is 4.
      const arrays = readSubmissions(folder);
      expect(arrays.map(({ jobs }) => jobs.length)).toEqual([3, 3]);
      expect(state(5)?.attempts).toMatchObject([
        { details: { scheduler: `${arrays[1]?.array}_2` } },
      ]);
      const task = `${arrays[0]?.array}_2`;
      expect(readFileSync(join(cwd, `s/.submitit/${task}/${task}_0_log.out`), "utf8")).toContain(
        "x is 3\n",
      );
      // Nothing is left of Slurm's own logs where it had nothing to say.
      expect(readdirSync(join(folder, "slurm")).filter((name) => name.endsWith(".log"))).toEqual(
        [],
      );
    });

    test("array_parallelism holds, and a slow job of one array holds back none of another", async () => {
      const { folder, lines, ran, release, start } = place();
      const parallel = "hydra.launcher.array_parallelism=2";
      const launcher = start(["x=1,2,3,4,5", "do=hold", "seconds=1", parallel]);
      await until(() => ran("begin").length >= 2 && readSubmissions(folder).length === 2);
      // Of each array one.
      expect([...ran("begin")].sort()).toEqual([0, 2]);
      release();
      expect((await launcher).exitCode).toBe(0);
      const events = lines("ran.txt").map((line) => line.split(" "));
      let running = 0;
      let most = 0;
      for (const [kind] of events.toSorted((a, b) => Number(a.at(-1)) - Number(b.at(-1)))) {
        running += kind === "begin" ? 1 : -1;
        most = Math.max(most, running);
      }
      expect(most).toBe(2);
      expect(events).toHaveLength(10);
    });

    test("jobs that ask for other resources are an array of their own", async () => {
      const { cwd, folder, start } = place();
      const { exitCode, stderr } = await start([
        "x=1,2,1",
        "hydra.launcher.cpus_per_task=${x}",
        "hydra.launcher.setup=['echo cpus $SLURM_CPUS_PER_TASK']",
      ]);
      expect(exitCode, String(stderr)).toBe(0);
      const arrays = readSubmissions(folder);
      expect(arrays.map(({ jobs }) => jobs.map(({ number }) => number))).toEqual([[0, 2], [1]]);
      const cpus = arrays.map(({ array }) =>
        readFileSync(join(cwd, `s/.submitit/${array}_0/${array}_0_0_log.out`), "utf8"),
      );
      expect(cpus.map((text) => text.split("\n")[0])).toEqual(["cpus 1", "cpus 2"]);
    });

    test("failures of an array are told: by the job, by its death, by its set-up", async () => {
      const { start, state, statuses } = place();
      const { exitCode, stderr } = await start(["x=1", "do=ok,fail,code,kill"]);
      expect(exitCode).toBe(1);
      expect(statuses(4)).toEqual(["completed", "failed", "failed", "failed"]);
      expect(stderr).toContain("boom 1");
      expect(state(3)?.attempts.at(-1)?.error).toContain("Slurm: its script ended with code 137");
      const setup = place();
      const outcome = await setup.start(["x=1", "hydra.launcher.setup=[exit 7]"]);
      expect(outcome.exitCode).toBe(7);
      expect(setup.state(0)?.attempts.at(-1)?.error).toContain(
        "Slurm: its script ended with code 7",
      );
      expect(outcome.stderr).toMatch(/^#0 +x=1 .* s\/\.submitit\/\d+_0$/m);
    });

    test("a job whose heap was full is told with what lets it have more", async () => {
      const { start, state } = place();
      const { exitCode, stderr } = await start(["x=1", "do=hungry"], SLURM, {
        NODE_OPTIONS: "--max-old-space-size=80",
      });
      expect(exitCode, String(stderr)).toBe(1);
      expect(state(0)?.attempts.at(-1)?.error).toBe(
        "out of memory: Node's heap is full; NODE_OPTIONS=--max-old-space-size=MB gives each job more",
      );
    });

    test("a key that asks for what no node has is named as the user wrote it", async () => {
      const { start } = place();
      const { exitCode, stderr } = await start(["x=1", "hydra.launcher.gpus_per_node=1"]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain("Invalid generic resource (gres) specification");
      expect(stderr).toContain("hydra.launcher.gpus_per_node");
    });

    test("a failure stops the jobs that still wait, if asked to", async () => {
      const { folder, ran, release, start } = place();
      const launcher = start(
        [
          // The third lasts until the launcher has seen the failures, so that the fourth cannot have begun.
          "do=fail,hold",
          "x=1,2",
          "hydra.launcher.array_parallelism=1",
          "hydra.launcher.on_failure=stop",
        ],
        "hydra/launcher=slurm",
      );
      await until(() => ran("begin").length > 0);
      await until(() => slurm.waiting(folder) === 0);
      release();
      expect((await launcher).exitCode).toBe(1);
      expect(ran("begin").length).toBeLessThan(4);
    });

    test("a pruner ends running jobs that are worse than others, which is no failure", async () => {
      const { resume, start, state, statuses } = place();
      const search = ["hydra/sweeper=random", "hydra.sweeper.seed=1", "hydra.sweeper.n_trials=4"];
      const pruner = ["pruner=median", "pruner_metric=loss", "pruner_startup_jobs=1"];
      const { exitCode, stderr, stdout } = await start([
        ...[...search, ...pruner.map((one) => `hydra.sweeper.${one}`)],
        ...["hydra.sweeper.objective=square", "x=interval(0,1)", "do=report"],
      ]);
      expect(exitCode, String(stderr)).toBe(0);
      expect(stderr).toContain("1 of 4 jobs completed, 3 pruned");
      expect(stdout).toContain("Best of 4 trials, 3 pruned: ");
      expect(statuses(4)).toEqual(["completed", "pruned", "pruned", "pruned"]);
      expect(state(1)?.attempts).toMatchObject([{ ended_by: { by: "pruner" } }]);
      expect((await resume()).exitCode).toBe(0);
      expect(state(1)?.attempts).toHaveLength(1);
    });

    test("a job that is requeued goes on; a job that is cancelled is over", async () => {
      const { cwd, folder, ran, release, start, state } = place();
      const launcher = start(["x=1,2", "do=hold"], SLURM, { PROG_RESULTS: "1" });
      await until(() => ran("begin").length === 2);
      const array = readSubmissions(folder)[0]?.array;
      slurm.command("scancel", `${array}_1`);
      // As if it had run on another machine, whose processes nobody here can ask about.
      const elsewhere = { host: "another-machine", pid: 1, birth: null };
      writeFileSync(join(cwd, "s/0/.running"), JSON.stringify(elsewhere));
      slurm.command("scontrol", "requeue", `${array}_0`);
      await until(() => ran("begin").length === 3);
      release();
      const { exitCode, stderr } = await launcher;
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(
        /^#1 x=2: stopped after .*: (stopped by SIGTERM|Slurm: it was cancelled)/m,
      );
      // What was ended by others has not failed: it is what --resume runs.
      expect(stderr).toContain("1 of 2 jobs completed, 1 stopped;");
      expect(stderr).toContain("1 of 2 jobs stopped:\n");
      expect(stderr).toMatch(/The sweep is incomplete: run the rest with node \S+ --resume s$/m);
      expect(stderr).not.toContain("--retry-failed");
      expect(state(0)).toMatchObject({ status: "completed" });
      expect(state(0)?.attempts).toHaveLength(2);
      expect(state(1)?.status).toBe("stopped");
    });

    test("a killed launcher loses nothing: --resume follows the jobs that Slurm still has", async () => {
      const { folder, ran, release, start, statuses, sweep } = place();
      const launcher = start(["x=1,2,3", "do=hold", "hydra.launcher.array_parallelism=2"]);
      await until(() => ran("begin").length === 2);
      launcher.kill("SIGKILL");
      await launcher;
      const before = await sweep.status();
      expect(before.map(({ phase }) => phase).sort()).toEqual(["running", "running", "waiting"]);
      release();
      for await (const event of sweep.watch()) void event;
      expect(statuses(3)).toEqual(["completed", "completed", "completed"]);
      expect([...ran("begin")].sort()).toEqual([0, 1, 2]);
      expect(readSubmissions(folder)).toHaveLength(1);
      expect(await sweep.status()).toEqual([]);
    });

    test("--resume follows the jobs that Slurm still has, and submits those that it has not", async () => {
      const { folder, ran, release, resume, start, statuses } = place();
      const launcher = start(["x=1,2,3", "do=hold", "hydra.launcher.array_parallelism=2"]);
      await until(() => ran("begin").length === 2);
      launcher.kill("SIGKILL");
      await launcher;
      slurm.command("scancel", `${readSubmissions(folder)[0]?.array}_2`);
      const resumed = resume();
      let said = "";
      resumed.stdout?.on("data", (text) => {
        said += text;
      });
      await until(() => said.includes("Submitted 1 job"));
      release();
      const { exitCode, stdout } = await resumed;
      expect(stdout).toContain("Submitted 1 job to Slurm");
      expect(stdout).toContain("Slurm already has 2 jobs of this sweep");
      expect(exitCode).toBe(0);
      expect(statuses(3)).toEqual(["completed", "completed", "completed"]);
      expect([...ran("begin")].sort()).toEqual([0, 1, 2]);
    });

    test.each([
      ["SIGINT", 130],
      ["SIGQUIT", 131],
      ["SIGHUP", 129],
    ] as const)("%s ends the following, not the jobs; cancel ends those", async (signal, code) => {
      const { cwd, ran, start, sweep } = place();
      const launcher = start(["x=1,2", "do=hold"]);
      await until(() => ran("begin").length === 2);
      launcher.kill(signal);
      const { exitCode, stderr } = await launcher;
      expect(exitCode).toBe(code);
      expect(stderr).toContain(`--resume ${join(cwd, "s")}`);
      expect((await sweep.status()).map(({ phase }) => phase)).toEqual(["running", "running"]);
      await sweep.cancel();
      const events = [];
      for await (const event of sweep.watch()) events.push(event.kind);
      expect(events.filter((kind) => kind === "ended")).toHaveLength(2);
    });

    test("what Slurm holds is told with what to do about it, by everything that looks", async () => {
      const { folder, look, start } = place();
      const hold = "+hydra.launcher.additional_parameters={hold: true}";
      const launcher = start(["x=1,2", hold]);
      let said = "";
      launcher.stderr?.on("data", (text) => {
        said += text;
      });
      await until(() => said.includes("JobHeldUser"));
      const array = readSubmissions(folder)[0]?.array;
      const remedy = `it is held (JobHeldUser): 'scontrol release ${array}_[0-1]' releases it`;
      expect(said).toContain(`#0 x=1 (and 1 more): waits: ${remedy}\n`);
      const status = String((await look("status", "s").process).stdout);
      expect(status).toContain(`#0 x=1 (and 1 more): waits: ${remedy}\n`);
      const { jobs } = JSON.parse(String((await look("status", "s", "--json").process).stdout));
      expect(jobs[1].scheduler).toMatchObject({ id: `${array}_1`, pendingReason: remedy });
      // While the launcher follows the jobs, and when nobody does.
      const driven = look("wait", "s");
      await until(() => driven.said().includes(remedy));
      launcher.kill("SIGINT");
      expect((await launcher).exitCode).toBe(130);
      const left = look("wait", "s");
      await until(() => left.said().includes(remedy));
      slurm.command("scontrol", "release", `${array}_[0-1]`);
      const waited = await Promise.all([driven.process, left.process]);
      expect(waited.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    });

    test("what Slurm does not accept is said in its words, with what to do", async () => {
      const { folder, start, state } = place();
      const partition = await start(["x=1", "hydra.launcher.partition=nope"]);
      expect(partition.exitCode).toBe(1);
      expect(partition.stderr).toContain("invalid partition specified: nope");
      expect(partition.stderr).toContain("sinfo");
      const memory = await start(["x=1,2,3,4,5,6", "hydra.launcher.mem_gb=9999"]);
      expect(memory.stderr).toContain("Memory specification can not be satisfied");
      const option = await start(["x=1", "+hydra.launcher.additional_parameters={no_such: 1}"]);
      expect(option.stderr).toContain("unrecognized option '--no-such=1'");
      expect(readSubmissions(folder)).toEqual([]);
      expect(state(0)).toBeUndefined();
    });

    test("an array whose number was never noted is found by its script", async () => {
      const { folder, ran, release, start, statuses, sweep } = place();
      const launcher = start(["x=1,2", "do=hold"]);
      await until(() => ran("begin").length === 2);
      launcher.kill("SIGKILL");
      await launcher;
      noteSubmissions(
        folder,
        readSubmissions(folder).map((one) => ({ ...one, array: null })),
      );
      release();
      for await (const event of sweep.watch()) void event;
      expect(statuses(2)).toEqual(["completed", "completed"]);
    });
  },
);

test("without Slurm's commands the launcher says what it needs", async () => {
  const { start } = workplace();
  const { exitCode, stderr } = await start(["-m", SLURM, "x=1"], {
    env: { PATH: "/nowhere" },
    extendEnv: false,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("needs 'scontrol', which is not on PATH");
  expect(stderr).toContain("hydra/launcher=local");
});
