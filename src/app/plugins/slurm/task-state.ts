/** Slurm's report about a task of a job array. */
export interface TaskReport {
  readonly array: string;
  readonly index: number;
  /** Slurm's name of the state: `RUNNING`. */
  readonly state: string;
  /** Slurm's reason, or null if it gives none: `Resources`, `TimeLimit`. */
  readonly reason: string | null;
  /** The exit code of the batch script, if Slurm knows it; 128 plus the number of a signal that ended it. */
  readonly exitCode: number | null;
}

/** The meaning of a state for a sweep. */
export type TaskPhase = "waiting" | "running" | "over";

/** Final states, unless the task is requeued. */
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

/** Why a task is over that left no record, and did not run out of memory: for people. */
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
