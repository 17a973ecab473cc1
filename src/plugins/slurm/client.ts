import { ConfigError } from "../../values/errors.ts";
import type { SbatchOption } from "./batch-script.ts";
import { createQueue, isForgotten, readShownJobs, slurmCommands } from "./queue.ts";
import { busy, busyBy, noAnswer, rejected, said, unanswered } from "./slurm-errors.ts";
import { type SubmittedTask, taskName } from "./submissions.ts";
import type { TaskReport } from "./task-state.ts";

/** Slurm's commands, as far as a sweep needs them. With a signal, a question is given up as soon as that comes: nothing was answered. */
export interface SlurmClient {
  /**
   * Hands a script to sbatch.
   * @returns the number of the job
   * @throws ConfigError `slurm/missing`, `slurm/rejected`; `slurm/full` for more jobs than may be submitted; `slurm/busy` where it was not
   * taken for now, or the answer was lost; `slurm/no_answer` where sbatch was ended before it said whether there is a job now
   */
  submit(options: readonly SbatchOption[], script: string): Promise<string>;
  /**
   * How large an index of an array may be, plus one.
   * @throws ConfigError `slurm/missing`; `slurm/busy` where the controller does not answer for now
   */
  maxArraySize(): Promise<number>;
  /** What Slurm knows of the tasks of arrays; undefined while it does not answer. */
  tasks(
    arrays: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly TaskReport[] | undefined>;
  /** The same of one array, also of tasks that left the queue a short time ago; none where it is forgotten. */
  recentTasks(array: string, signal?: AbortSignal): Promise<readonly TaskReport[] | undefined>;
  /**
   * Lets more or fewer tasks of an array run at a time.
   * @returns whether Slurm took it
   */
  setParallelism(array: string, parallelism: number): Promise<boolean>;
  /** Ends tasks, `ARRAY_INDEX`, or whole arrays; those that wait only, if asked so. */
  cancel(ids: readonly string[], options?: { readonly onlyWaiting?: boolean }): Promise<void>;
  /**
   * The number of the array that a script was submitted as; undefined for none in the queue.
   * @throws ConfigError `slurm/no_answer`
   */
  arrayOf(script: string, signal?: AbortSignal): Promise<string | undefined>;
}

const CANCELLED_AT_ONCE = 500;

export function createSlurm(env: Readonly<Record<string, string | undefined>>): SlurmClient {
  const call = slurmCommands(env);
  return {
    async submit(options, script) {
      const { exitCode, failed, shortMessage, stderr, stdout } = await call("sbatch", [
        "--parsable",
        ...options.map(({ text }) => text),
        script,
      ]);
      const id = /^(\d+)(?:;|$)/m.exec(stdout)?.[1];
      if (id === undefined && exitCode === undefined) throw unanswered(shortMessage ?? "");
      if (failed || id === undefined)
        throw busyBy(stderr) ?? rejected(stderr.trim() || shortMessage || stdout, options);
      return id;
    },
    async maxArraySize() {
      const answer = await call("scontrol", ["show", "config"]);
      const { failed, isGivenUp, shortMessage = "", stderr, stdout } = answer;
      const problem = isGivenUp ? busy(shortMessage) : failed ? busyBy(stderr) : undefined;
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
      // A command line holds only so much.
      for (let first = 0; first < ids.length; first += CANCELLED_AT_ONCE) {
        const some = ids.slice(first, first + CANCELLED_AT_ONCE);
        const { failed, shortMessage, stderr } = await call("scancel", [...options, ...some]);
        // What is over cannot be cancelled, and need not be.
        if (failed && !/invalid job id|already completing|completed/i.test(stderr))
          throw new ConfigError({
            code: "slurm/rejected",
            message: `scancel: ${said(stderr) || shortMessage}`,
          });
      }
    },
    async arrayOf(script, signal) {
      const args = ["--noheader", "--states=all", "--format=%F|%o"];
      const { failed, stderr, stdout } = await call("squeue", args, signal);
      if (failed) throw noAnswer(said(stderr));
      const line = stdout
        .split("\n")
        .find((one) => one.slice(one.indexOf("|") + 1).trim() === script);
      return line?.split("|")[0]?.trim();
    },
  };
}

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
