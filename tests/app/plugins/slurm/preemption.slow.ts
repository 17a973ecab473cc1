import { afterAll, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";
import { until } from "../../../wait.ts";
import { workplace } from "../../sweep/program/start.ts";

const WHOLE_NODE = "64";

/** What makes jobs of the partition `high` take the place of others: at once, after some time of grace, or for good. */
const PRIORITIES = [
  "PreemptType=preempt/partition_prio",
  "PreemptMode=REQUEUE",
  "PartitionName=low Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE State=UP",
  "PartitionName=graceful Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE GraceTime=20 State=UP",
  "PartitionName=cancelling Nodes=ALL PriorityTier=1 PreemptMode=CANCEL State=UP",
  "PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF State=UP",
];

describe.skipIf(!hasSlurm("preemption on a real Slurm")).each([
  { how: "told by TERM", extra: [] },
  {
    how: "told by the signal of its time limit",
    extra: ["SlurmctldParameters=preempt_send_user_signal"],
  },
])(
  "a job that has to make place for one of a partition of higher priority, $how",
  { concurrent: true },
  ({ extra }) => {
    let slurm: SlurmCluster;
    beforeAll(async () => {
      slurm = await startSlurm([...PRIORITIES, ...extra]);
    });
    afterAll(() => slurm?.stop());

    /** Somebody else's job, which needs the whole machine for some seconds. */
    const takeOver = (seconds: number) =>
      slurm.command(
        "sbatch",
        "--parsable",
        "--partition=high",
        `--cpus-per-task=${WHOLE_NODE}`,
        "--output=/dev/null",
        `--wrap=sleep ${seconds}`,
      );

    const sweep = (partition: string, ...argv: readonly string[]) => {
      const place = workplace();
      const launcher = place.start(
        [
          "-m",
          "hydra/launcher=slurm",
          `hydra.launcher.partition=${partition}`,
          `hydra.launcher.cpus_per_task=${WHOLE_NODE}`,
          ...argv,
        ],
        { env: slurm.env },
      );
      // Slurm's own word for what it did with the job: who fails here is rarely met again.
      onTestFailed(() => console.error(slurm.command("scontrol", "show", "job")));
      /** Until the job has begun as often, or the launcher has given it up, and says why. */
      const begun = (times: number) =>
        Promise.race([until(() => place.ran("begin").length === times), launcher]);
      return { ...place, launcher, begun };
    };

    // One after the other: each needs the whole node.
    test.sequential.each(["low", "graceful"])(
      "in '%s' starts again and ends",
      async (partition) => {
        const { begun, launcher, ran, release, state } = sweep(partition, "x=1", "do=hold");
        await begun(1);
        takeOver(2);
        await begun(2);
        release();
        const { exitCode, stderr } = await launcher;
        expect([exitCode, state(0)?.status], String(stderr)).toEqual([0, "completed"]);
        expect([ran("begin"), ran("end")]).toEqual([[0, 0], [0]]);
        expect(state(0)).toMatchObject({
          attempts: [
            { error: expect.stringMatching(/^stopped by SIG(TERM|USR2)$/) },
            { error: null },
          ],
          return_value: { x: 1 },
        });
        expect(stderr).toMatch(/^#0 .*: stopped, starts again: stopped by SIG/m);
      },
    );

    // It is told nothing in time: the signal makes no difference.
    if (extra.length === 0)
      test.sequential("is stopped where the cluster does not queue it again, and says why", async () => {
        const { begun, launcher, state } = sweep("cancelling", "x=1", "do=hold");
        await begun(1);
        takeOver(0);
        const { exitCode, stderr } = await launcher;
        expect([exitCode, state(0)?.status], String(stderr)).toEqual([1, "stopped"]);
        const why = "it was preempted and not requeued: PREEMPTED";
        expect(stderr).toContain(why);
        expect(state(0)?.attempts.map(({ error }) => error)).toEqual([
          expect.stringContaining(why),
        ]);
        expect(stderr).toMatch(/The sweep is incomplete: run the rest with node \S+ --resume s$/m);
      });

    test.sequential("what was saved in time counts, and is not run again", async () => {
      const { begun, launcher, ran, state } = sweep("graceful", "x=1", "do=saves");
      await begun(1);
      takeOver(2);
      const { exitCode, stderr } = await launcher;
      expect([exitCode, state(0)?.return_value], String(stderr)).toEqual([0, "saved in time"]);
      expect(ran("begin")).toEqual([0]);
    });
  },
);
