import type { SlurmClient } from "./client.ts";
import { type SubmittedTask, taskName } from "./submissions.ts";
import type { TaskReport } from "./task-state.ts";

/** What Slurm's queue says of tasks, by their names. */
export type Queue = ReadonlyMap<string, TaskReport>;

/** Undefined while Slurm does not answer. */
export async function queueOf(
  tasks: readonly SubmittedTask[],
  client: SlurmClient,
  signal?: AbortSignal,
): Promise<Queue | undefined> {
  const arrays = arraysOf(tasks);
  const reports = arrays.length === 0 ? [] : await client.tasks(arrays, signal);
  return reports && byName(reports);
}

/** What is known of tasks, by their names; of one that is not there, nothing, since Slurm does not answer. */
export type Reports = ReadonlyMap<string, TaskReport | "gone">;

/**
 * What Slurm says of tasks, also of those that its queue does not have. It is asked once for each array of these, however
 * many tasks that has.
 */
export async function reportsOf(
  tasks: readonly SubmittedTask[],
  queue: Queue,
  client: SlurmClient,
  signal?: AbortSignal,
): Promise<Reports> {
  const reports = new Map<string, TaskReport | "gone">(queue);
  const left = tasks.filter((task) => !queue.has(taskName(task)));
  for (const array of arraysOf(left)) {
    const recent = await client.recentTasks(array, signal);
    // It has stopped answering: each further question would take as long.
    if (recent === undefined) break;
    const known = byName(recent);
    // Of tasks that were cancelled before they began, only the array is known.
    for (const task of left.filter((one) => one.array === array))
      reports.set(taskName(task), known.get(taskName(task)) ?? "gone");
  }
  return reports;
}

const arraysOf = (tasks: readonly SubmittedTask[]): readonly string[] => [
  ...new Set(tasks.map(({ array }) => array)),
];

const byName = (reports: readonly TaskReport[]): Queue =>
  new Map(reports.map((report) => [taskName(report), report]));
