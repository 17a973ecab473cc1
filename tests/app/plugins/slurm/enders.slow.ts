/** Who ended a job that Slurm runs, whatever its program answers (`tests/app/sweep/enders.test.ts` has the other launchers). */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readJobState } from "../../../../src/app/record/job-state.ts";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";
import { until } from "../../../wait.ts";
import { ALONE, ANSWERS, answeringSweep, endsBy } from "../../sweep/enders.ts";

const PRIORITIES = [
  "PreemptType=preempt/partition_prio",
  "PreemptMode=REQUEUE",
  "PartitionName=graceful Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE GraceTime=20 State=UP",
  "PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF State=UP",
];
const SLURM = ["hydra/launcher=slurm"];
const ROUNDS = Number(process.env["HYDRACONF_TIME_LIMIT_ROUNDS"] ?? 20);

describe.skipIf(!hasSlurm("who ended jobs of a real Slurm"))(
  "on a real Slurm",
  { timeout: 3_600_000 },
  () => {
    let slurm: SlurmCluster;
    beforeAll(async () => {
      slurm = await startSlurm(PRIORITIES);
    });
    afterAll(() => slurm?.stop());

    test("a time limit ends its jobs and no others; --retry-failed runs them again", async () => {
      const answers = [...ANSWERS, ...ALONE];
      const sweep = answeringSweep(answers, [...SLURM, "hydra.launcher.timeout_min=1"], slurm.env);
      const { exitCode, stderr } = await sweep.start();
      sweep.expectEnds(endsBy("timed_out", { by: "scheduler", cause: "time_limit" }));
      expect(exitCode, String(stderr)).toBe(1);
      expect(stderr).toContain("2 of 10 jobs completed, 2 failed, 6 timed_out;");
      expect(stderr).toMatch(/^Run the failed and timed_out jobs again with .* --retry-failed s$/m);
      const before = sweep.started().length;
      expect((await sweep.hydraconf("run", "--resume", "s")).exitCode).toBe(1);
      expect(sweep.started()).toHaveLength(before);
      const again = sweep.hydraconf("run", "--retry-failed", "s");
      await until(() => sweep.started().length === before + 8);
      await sweep.hydraconf("sweep", "cancel", "s");
      await again;
    });

    test("a preemption ends no sweep: what it ended runs again", async () => {
      const place = ["hydra.launcher.partition=graceful", "hydra.launcher.cpus_per_task=9"];
      const sweep = answeringSweep(ANSWERS, [...SLURM, ...place], slurm.env);
      const running = sweep.start();
      await sweep.ready();
      slurm.command(
        ...(["sbatch", "--parsable", "--partition=high", "--cpus-per-task=64"] as const),
        ...["--output=/dev/null", "--wrap=sleep 2"],
      );
      const again = ANSWERS.filter((answer) => answer !== "exits_0");
      const starts = (answer: string) =>
        sweep.started().filter((one) => one.answer === answer).length;
      await until(() => again.every((answer) => starts(answer) === 2));
      expect(starts("exits_0")).toBe(1);
      await sweep.hydraconf("sweep", "cancel", "s");
      await running;
      // The process that followed them had ended before.
      await sweep.hydraconf("sweep", "collect", "s");
      sweep.expectEnds(endsBy("stopped", { by: "cancel" }));
      for (const [number, answer] of ANSWERS.entries())
        if (answer !== "exits_0")
          expect(readJobState(sweep.folder, number)?.attempts[0]?.ended_by, answer).toEqual({
            by: "scheduler",
            cause: "requeued",
          });
      const attempts = ANSWERS.map(
        (_, number) => readJobState(sweep.folder, number)?.attempts.length,
      );
      expect(attempts).toEqual(ANSWERS.map((answer) => (answer === "exits_0" ? 1 : 2)));
    });

    test(`of ${ROUNDS} sweeps with a time limit none ends before its last job`, async () => {
      const round = async (number: number): Promise<void> => {
        const late = ["dies", "exits_1", "exits_143", "python", "node"][number % 5] ?? "dies";
        const limit = [...["hydra.launcher.timeout_min=1", "hydra.launcher.array_parallelism=1"]];
        const sweep = answeringSweep(
          [late, "well", "by_itself_143"],
          [...SLURM, ...limit],
          slurm.env,
        );
        const { exitCode, stderr } = await sweep.start();
        expect(exitCode, String(stderr)).toBe(1);
        sweep.expectEnds(endsBy("timed_out", { by: "scheduler", cause: "time_limit" }));
      };
      // Side by side: each takes a minute, in which it does nothing.
      const rounds = Array.from({ length: ROUNDS }, (_, number) => number).values();
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          for (const number of rounds) await round(number);
        }),
      );
    });
  },
);
