/** What a scheduler says of the process that a worker is. */
export interface ScheduledTask {
  /** The scheduler's name of the job, for its record. */
  readonly details?: Readonly<Record<string, string>>;
  /**
   * Whether this process records the job: the first of those that run it together
   * (`nodes`, `tasks_per_node`).
   */
  readonly isFirst: boolean;
  /** What the scheduler sends when the job's time is nearly up, beside the usual signals. */
  readonly signals: readonly NodeJS.Signals[];
}

/** Slurm's variables; without them, a process is on its own. */
export function scheduledTask(env: Readonly<Record<string, string | undefined>>): ScheduledTask {
  const { SLURM_ARRAY_JOB_ID: array, SLURM_ARRAY_TASK_ID: index, SLURM_PROCID: rank } = env;
  if (array === undefined || index === undefined) return { isFirst: true, signals: [] };
  return {
    details: { slurm: `${array}_${index}` },
    isFirst: rank === undefined || rank === "0",
    signals: ["SIGUSR2"],
  };
}

/** Whether a scheduler started this process, and sees to it that no other does the same job. */
export const isScheduled = (env: Readonly<Record<string, string | undefined>>): boolean =>
  scheduledTask(env).details !== undefined;
