/** The Slurm commands that a sweep uses. */
import { ConfigError } from "../../../engine/values/errors.ts";
import type { SbatchOption } from "./batch-script.ts";
import { createQueue, isForgotten, readShownJobs, slurmCommands } from "./queue.ts";
import { busy, busyBy, noAnswer, rejected, said, unanswered } from "./slurm-errors.ts";
import { type SubmittedTask, taskName } from "./submissions.ts";
import type { TaskReport } from "./task-state.ts";

/** The Slurm commands that a sweep needs. A query with a signal is abandoned when that aborts, without an answer. */
export interface SlurmClient {
  /**
   * Submits a script with sbatch.
   * @returns the number of the job
   * @throws ConfigError `slurm/missing`, `slurm/rejected`; `slurm/full` for more jobs than may be submitted;
   * `slurm/busy` if Slurm did not accept it for now, or the answer was lost; `slurm/no_answer` if sbatch was killed
   * before it reported whether there is a job
   */
  submit(options: readonly SbatchOption[], script: string): Promise<string>;
  /**
   * The largest index of an array, plus one.
   * @throws ConfigError `slurm/missing`; `slurm/busy` if the controller does not answer for now
   */
  maxArraySize(): Promise<number>;
  /** The tasks of arrays that Slurm knows; undefined while it does not answer. */
  tasks(
    arrays: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly TaskReport[] | undefined>;
  /** The tasks of one array, including those that left the queue recently; empty if Slurm has forgotten it. */
  recentTasks(array: string, signal?: AbortSignal): Promise<readonly TaskReport[] | undefined>;
  /**
   * Changes how many tasks of an array may run at a time.
   * @returns whether Slurm accepted it
   */
  setParallelism(array: string, parallelism: number): Promise<boolean>;
  /** Cancels tasks, `ARRAY_INDEX`, or whole arrays; with `onlyWaiting` only pending tasks. */
  cancel(ids: readonly string[], options?: { readonly onlyWaiting?: boolean }): Promise<void>;
  /**
   * The number of the array that a script was submitted as; undefined if the queue has none.
   * @throws ConfigError `slurm/no_answer`
   */
  arrayOf(script: string, signal?: AbortSignal): Promise<string | undefined>;
}

const CANCELLED_AT_ONCE = 500;

export function createSlurm(env: Readonly<Record<string, string | undefined>>): SlurmClient {
  const call = slurmCommands(env);
  return {
    async submit(options, script) {
      const { exitCode, failed, stderr, stdout, why } = await call("sbatch", [
        "--parsable",
        ...options.map(({ text }) => text),
        script,
      ]);
      const id = /^(\d+)(?:;|$)/m.exec(stdout)?.[1];
      if (id === undefined && exitCode === undefined) throw unanswered(why);
      if (failed || id === undefined)
        throw busyBy(stderr) ?? rejected(stderr.trim() || why || stdout, options);
      return id;
    },
    async maxArraySize() {
      const answer = await call("scontrol", ["show", "config"]);
      const { failed, isGivenUp, stderr, stdout, why } = answer;
      const problem = isGivenUp ? busy(why) : failed ? busyBy(stderr) : undefined;
      if (problem !== undefined) throw problem;
      // Slurm's own default.
      return Number(/^MaxArraySize\s*=\s*(\d+)/m.exec(stdout)?.[1] ?? 1001);
    },
    tasks: createQueue(call),
    async recentTasks(array, signal) {
      const args = ["--oneliner", "show", "job", array];
      const { failed, stderr, stdout } = await call("scontrol", args, signal);
      if (failed) return isForgotten(stderr) || /not found/.test(stdout) ? [] : undefined;
      const tasks = readShownJobs(stdout);
      return tasks.length === 0 ? undefined : tasks;
    },
    async setParallelism(array, parallelism) {
      const change = [`JobId=${array}`, `ArrayTaskThrottle=${parallelism}`];
      return !(await call("scontrol", ["update", ...change])).failed;
    },
    async cancel(ids, { onlyWaiting = false } = {}) {
      const options = onlyWaiting ? ["--state=PENDING"] : [];
      // The length of a command line is limited.
      for (let first = 0; first < ids.length; first += CANCELLED_AT_ONCE) {
        const some = ids.slice(first, first + CANCELLED_AT_ONCE);
        const { failed, stderr, why } = await call("scancel", [...options, ...some]);
        // Finished jobs cannot be cancelled, and need not be.
        if (failed && !/invalid job id|already completing|completed/i.test(stderr))
          throw new ConfigError({
            code: "slurm/rejected",
            message: said(stderr) === "" ? why : `scancel: ${said(stderr)}`,
          });
      }
    },
    async arrayOf(script, signal) {
      const args = ["--noheader", "--states=all", "--format=%F|%o"];
      const { failed, stderr, stdout } = await call("squeue", args, signal);
      if (failed) throw noAnswer(said(stderr));
      const line = stdout
        .split("\n")
        .find((line) => line.slice(line.indexOf("|") + 1).trim() === script);
      return line?.split("|")[0]?.trim();
    },
  };
}

/** Tasks in Slurm's queue, by name. */
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

/** Reports of tasks by name; a task is absent if Slurm did not answer about it. */
export type Reports = ReadonlyMap<string, TaskReport | "gone">;

/**
 * Slurm's reports of tasks, including those that its queue no longer has: these take one query for each array, however
 * many tasks it has.
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
    // Slurm has stopped answering: each further query would take as long.
    if (recent === undefined) break;
    const named = byName(recent);
    // For tasks that were cancelled before they began, Slurm knows only the array.
    for (const task of left.filter((other) => other.array === array))
      reports.set(taskName(task), named.get(taskName(task)) ?? "gone");
  }
  return reports;
}

const arraysOf = (tasks: readonly SubmittedTask[]): readonly string[] => [
  ...new Set(tasks.map(({ array }) => array)),
];

const byName = (reports: readonly TaskReport[]): Queue =>
  new Map(reports.map((report) => [taskName(report), report]));
