/** What Slurm says of a task of a job array. */
export interface TaskReport {
  readonly array: string;
  readonly index: number;
  /** Slurm's word: `RUNNING`. */
  readonly state: string;
  /** Slurm's reason, or null where it has none: `Resources`, `TimeLimit`. */
  readonly reason: string | null;
  /** Of the batch script, where Slurm knows it; 128 and the number of a signal that ended it. */
  readonly exitCode: number | null;
}

/** What a state means for a sweep. */
export type TaskPhase = "waiting" | "running" | "over";

/** States of Slurm after which nothing comes unless the task is queued again. */
const OVER = [
  "BOOT_FAIL",
  "CANCELLED",
  "COMPLETED",
  "DEADLINE",
  "FAILED",
  "LAUNCH_FAILED",
  "NODE_FAIL",
  "OUT_OF_MEMORY",
  "PREEMPTED",
  "RECONFIG_FAIL",
  "REVOKED",
  "TIMEOUT",
];

const WAITING = [
  "PENDING",
  "REQUEUED",
  "REQUEUE_FED",
  "REQUEUE_HOLD",
  "RESV_DEL_HOLD",
  "SPECIAL_EXIT",
];

export function phaseOf({ state }: TaskReport): TaskPhase {
  if (OVER.includes(state)) return "over";
  return WAITING.includes(state) ? "waiting" : "running";
}

/** Why a task is over that left no record of its own, and did not run out of memory: for people. */
export function whyOver({ exitCode, reason, state }: TaskReport): string {
  const why = reason === null ? "" : ` (${reason})`;
  switch (state) {
    case "BOOT_FAIL":
    case "LAUNCH_FAILED":
    case "NODE_FAIL":
      return `Slurm: its node failed: ${state}${why}`;
    case "CANCELLED":
      return `Slurm: it was cancelled${why}`;
    case "DEADLINE":
    case "TIMEOUT":
      return `Slurm: it ran out of time: ${state}${why}`;
    case "PREEMPTED":
      return `Slurm: it was preempted and not requeued: ${state}${why}`;
    default:
      return `Slurm: its script ended${exitCode === null ? "" : ` with code ${exitCode}`} and the job left no result: ${state}${why}`;
  }
}
