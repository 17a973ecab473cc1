/** The Slurm side of a recorded sweep: its tasks, for status, wait and cancel. */
import { rmSync } from "node:fs";
import type { ScheduledJob } from "../../launch/launcher.ts";
import type { SweepBackend } from "../../launch/scheduler.ts";
import { undamagedState } from "../../record/damage.ts";
import { hasEnded } from "../../record/job-state.ts";
import { queueOf, reportsOf, type SlurmClient } from "./client.ts";
import { pendingReasons } from "./pending-reasons.ts";
import { noAnswer } from "./slurm-errors.ts";
import {
  noteSubmissions,
  readSubmissions,
  type Submission,
  type SubmittedTask,
  taskName,
  taskRanges,
  tasksKnownOver,
  tasksOf,
} from "./submissions.ts";
import { phaseOf, type TaskReport } from "./task-state.ts";
import { watchTasks } from "./watch-tasks.ts";

/** The time limit for a task that is being requeued, which must not delay a command that only reads. */
const SETTLE_MS = 30_000;

/** The Slurm side of a recorded sweep. */
export function slurmSweep(folder: string, client: SlurmClient): SweepBackend {
  return {
    async status({ signal } = {}) {
      const tasks = unfinished(folder, await submittedTasks(folder, client, signal));
      const queue = await queueOf(tasks, client, signal);
      if (queue === undefined) throw noAnswer();
      const held = pendingReasons([...queue.values()]);
      return tasks.flatMap((task) => {
        const name = taskName(task);
        const report = queue.get(name);
        return report === undefined ? [] : [scheduledJob(task, report, held.get(name)?.text)];
      });
    },
    handedOver() {
      // An array whose number is not recorded may have been submitted, too.
      const noted = readSubmissions(folder).map((submission) => ({
        ...submission,
        array: submission.array ?? "?",
      }));
      return new Set(unfinished(folder, tasksOf(noted)).map(({ number }) => number));
    },
    async reconcile({ signal } = {}) {
      const tasks = unfinished(folder, await submittedTasks(folder, client, signal));
      const { over, unknown } = await tasksOver(tasks, client, signal);
      const late = AbortSignal.timeout(SETTLE_MS);
      const request = { folder, client, tasks: over };
      const watch = watchTasks({
        ...request,
        signal: signal ? AbortSignal.any([signal, late]) : late,
      });
      for await (const event of watch) void event;
      return unknown.length === 0
        ? undefined
        : { problem: noAnswer().message, jobs: new Set(unknown.map(({ number }) => number)) };
    },
    async *watch({ numbers, signal } = {}) {
      const tasks = await submittedTasks(folder, client, signal);
      const chosen = [...tasks.values()].filter(({ number }) => numbers?.has(number) ?? true);
      yield* watchTasks({ folder, client, tasks: chosen, ...(signal && { signal }) });
    },
    async cancel({ numbers, onlyWaiting = false } = {}) {
      const tasks = unfinished(folder, await submittedTasks(folder, client));
      const chosen = tasks.filter(({ number }) => numbers?.has(number) ?? true);
      await client.cancel(taskRanges(chosen), { onlyWaiting });
    },
  };
}

/**
 * The tasks of a sweep's jobs, including those of arrays whose number is not recorded yet. Writes nothing, because a
 * launcher may be submitting at the same time.
 *
 * @throws ConfigError `slurm/no_answer` if arrays have to be searched for
 */
const submittedTasks = async (
  folder: string,
  client: SlurmClient,
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, SubmittedTask>> =>
  tasksOf(await foundSubmissions(readSubmissions(folder), client, signal));

/**
 * Records the numbers of arrays whose launcher died before it could, and abandons arrays that it was about to submit:
 * if one is still submitted later, because its sbatch is slow, it runs nothing. Only for the process that has claimed
 * the sweep.
 *
 * @throws ConfigError `slurm/no_answer`
 */
export async function adoptSubmissions(folder: string, client: SlurmClient): Promise<void> {
  const open = readSubmissions(folder).filter(({ array }) => array === null);
  const found = await foundSubmissions(open, client);
  for (const { array, script } of found) {
    if (array !== null) continue;
    rmSync(script, { force: true });
    // An array that was submitted in between may have begun.
    const late = await client.arrayOf(script);
    if (late !== undefined) await client.cancel([late]);
  }
  if (found.length > 0)
    noteSubmissions(
      folder,
      found.map(({ array, script }) =>
        array === null ? { script, given_up: true } : { script, array },
      ),
    );
}

/** Searches the queue for an array whose number is not recorded, by its script. */
const foundSubmissions = (
  noted: readonly Submission[],
  client: SlurmClient,
  signal?: AbortSignal,
): Promise<readonly Submission[]> =>
  Promise.all(
    noted.map(async (submission) =>
      submission.array === null
        ? { ...submission, array: (await client.arrayOf(submission.script, signal)) ?? null }
        : submission,
    ),
  );

/** Tasks without a recorded end that Slurm may still have. */
function unfinished(
  folder: string,
  tasks: ReadonlyMap<number, SubmittedTask>,
): readonly SubmittedTask[] {
  const over = tasksKnownOver(folder);
  return [...tasks.values()].filter((task) => {
    const state = undamagedState(folder, task.number);
    return !(hasEnded(state) && state.attempts.length > task.attempts) && !over.has(taskName(task));
  });
}

/**
 * `over`: tasks that Slurm reports as over, or no longer knows; `unknown`: tasks that are not in its queue, and about
 * which it does not answer.
 *
 * @throws ConfigError `slurm/no_answer`
 */
async function tasksOver(
  tasks: readonly SubmittedTask[],
  client: SlurmClient,
  signal?: AbortSignal,
): Promise<Readonly<Record<"over" | "unknown", readonly SubmittedTask[]>>> {
  const queue = await queueOf(tasks, client, signal);
  if (queue === undefined) throw noAnswer();
  const reports = await reportsOf(tasks, queue, client, signal);
  const over = tasks.filter((task) => {
    const report = reports.get(taskName(task));
    return report === "gone" || (report !== undefined && phaseOf(report) === "over");
  });
  return { over, unknown: tasks.filter((task) => !reports.has(taskName(task))) };
}

const scheduledJob = (
  task: SubmittedTask,
  report: TaskReport,
  pendingReason: string | undefined,
): ScheduledJob => ({
  number: task.number,
  id: taskName(task),
  phase: phaseOf(report),
  state: report.reason === null ? report.state : `${report.state} (${report.reason})`,
  pendingReason: pendingReason ?? null,
});
