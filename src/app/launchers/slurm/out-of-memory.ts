import { isHeapFull, MORE_HEAP } from "../../worker/out-of-memory.ts";
import type { SubmittedTask } from "./submissions.ts";
import type { TaskReport } from "./task-state.ts";

/**
 * Why the job of a task ended, and what to do, where it ran out of memory; undefined for others. Slurm does not always say so
 * itself: the task whose step was killed has just failed, and one whose time is past is forgotten. What was printed last tells.
 *
 * @param lines what Slurm and the job have logged last
 * @param report what Slurm said last; undefined where it knows the task no more
 */
export function outOfMemory(
  lines: readonly string[],
  task: SubmittedTask,
  report: TaskReport | undefined,
): string | undefined {
  if (isHeapFull(lines)) return `out of memory: Node's heap is full; ${MORE_HEAP}`;
  return report?.state === "OUT_OF_MEMORY" || lines.some((line) => OVER_LIMIT.test(line))
    ? `out of memory: it used more than Slurm allotted; ${moreMemory(task)} gives each job more`
    : undefined;
}

/** Slurm takes only one of the keys that say how much: it is the one that was set. */
const moreMemory = ({ memory_key = "mem_gb" }: SubmittedTask): string =>
  `hydra.launcher.${memory_key}=${memory_key === "mem_gb" ? "GB" : "SIZE"}`;

/** Slurm's own words, in versions from 17 on; a program may use the same of something else. */
const OVER_LIMIT =
  /^(slurmstepd|srun)[^ ]*: .*(oom[-_]kill|Out Of Memory|xceeded (job |step )?memory limit)/;
