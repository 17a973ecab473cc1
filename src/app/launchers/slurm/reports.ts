import type { SlurmClient } from "./client.ts";
import { type SubmittedTask, taskName } from "./submissions.ts";
import type { TaskReport } from "./task-state.ts";

/** What Slurm's queue says of tasks, by their names. */
export type Reports = ReadonlyMap<string, TaskReport>;

/** Undefined while Slurm does not answer. */
export async function reportsOf(
  tasks: readonly SubmittedTask[],
  client: SlurmClient,
): Promise<Reports | undefined> {
  const arrays = [...new Set(tasks.map(({ array }) => array))];
  const reports = arrays.length === 0 ? [] : await client.tasks(arrays);
  return reports && new Map(reports.map((report) => [taskName(report), report]));
}

/** Of one task; what the queue does not have is asked for by name. */
export const reportOf = async (
  task: SubmittedTask,
  reports: Reports,
  client: SlurmClient,
): ReturnType<SlurmClient["task"]> =>
  reports.get(taskName(task)) ?? (await client.task(task.array, task.index));
