/** Records the ends of Slurm's tasks that could not do so themselves. */
import type { Signal } from "../../../foundation/system/platform-types.ts";
import { INTERRUPTS, signalCode } from "../../../foundation/system/process-signals.ts";
import { type Ender, endStatus, ITSELF } from "../../job/ender.ts";
import { isHeapFull, MORE_HEAP } from "../../launch/job-log.ts";
import {
  begun,
  ended,
  forgetMissingFiles,
  hasEnded,
  type JobState,
  lookAtJob,
  scheduledBy,
  writeJobState,
} from "../../record/job-state.ts";
import { jobsFolder } from "../../record/layout.ts";
import { signalledBy } from "../../record/recorded-job.ts";
import {
  createJobLogs,
  type JobLogs,
  type LoggedEnd,
  lastJobLines,
  lastSlurmLines,
  loggedEnd,
} from "./job-logs.ts";
import { noteOver, type SubmittedTask, taskName } from "./submissions.ts";
import { type TaskReport, whyOver } from "./task-state.ts";

/** Who ended a job, for each of Slurm's final task states, if the job has not recorded its own end. */
const ENDERS: Readonly<Record<string, Ender>> = {
  BOOT_FAIL: { by: "scheduler", cause: "node_lost" },
  CANCELLED: { by: "scheduler", cause: "cancelled" },
  COMPLETED: ITSELF,
  DEADLINE: { by: "scheduler", cause: "time_limit" },
  FAILED: ITSELF,
  LAUNCH_FAILED: { by: "scheduler", cause: "node_lost" },
  NODE_FAIL: { by: "scheduler", cause: "node_lost" },
  OUT_OF_MEMORY: { by: "out_of_memory" },
  PREEMPTED: { by: "scheduler", cause: "preempted" },
  TIMEOUT: { by: "scheduler", cause: "time_limit" },
};

const UNKNOWN: Ender = { by: "scheduler", cause: "unknown" };

/** The outcome of a task that is over. */
type Reconciled =
  | "recorded already"
  | { readonly kind: "ended" }
  | { readonly kind: "dropped"; readonly reason: string };

/**
 * Records the end of jobs that could not do so themselves.
 *
 * @param report Slurm's last report; undefined if it no longer knows the task
 */
export type Reconcile = (task: SubmittedTask, report: TaskReport | undefined) => Reconciled;

/** For tasks that are known to be over, of the sweep in this folder: looks up their earlier records once. */
export function createReconcile(folder: string): Reconcile {
  forgetMissingFiles(jobsFolder(folder));
  const logsOf = createJobLogs();
  return (task, report) => reconcile(folder, task, report, logsOf);
}

/**
 * A job out of time or memory has failed; one that was cancelled or whose node failed was stopped, and still has to
 * run.
 */
function reconcile(
  folder: string,
  task: SubmittedTask,
  report: TaskReport | undefined,
  logsOf: JobLogs,
): Reconciled {
  const state = lookAtJob(folder, task.number);
  // It may hold the end of the job, of which Slurm knows less.
  if (state?.status === "damaged") return { kind: "ended" };
  const isNew = state !== undefined && state.attempts.length > task.attempts;
  // A caller with an old report, from before the job was resubmitted, must not end the current attempt.
  if (isNew && !mayBeOf(task, state)) return "recorded already";
  if (isNew && hasEnded(state)) return "recorded already";
  noteOver(folder, task);
  // Two launchers may both have submitted the job: the task that found it completed has run nothing.
  if (!isNew && state?.status === "completed") return { kind: "ended" };
  const slurmLines = lastSlurmLines(folder, task);
  const logged = loggedEnd(folder, task);
  const { endedBy, lastReport, lack, why } = endOf({
    folder,
    task,
    report,
    slurmLines,
    logged,
    logsOf,
  });
  const isStopped = endStatus(endedBy, false) === "stopped";
  if (!isNew && isStopped) return { kind: "dropped", reason: why };
  // The job's own record is more precise than Slurm about its exit code.
  const saysStopped = isNew && state.status === "stopped" && lack === undefined;
  if (saysStopped && (isStopped || endedBy.by === "itself")) {
    const named = endedByScheduler(state, endedBy, why);
    if (named !== undefined) writeJobState(folder, named);
    return { kind: "ended" };
  }
  const detail = lack === undefined ? slurmLines.at(-1)?.trim() : undefined;
  const attempt = isNew
    ? state
    : begun(task.number, state, { details: scheduledBy({ id: taskName(task) }) });
  writeJobState(
    folder,
    ended(attempt, {
      endedBy,
      exitCode: lastReport?.exitCode || null,
      error: detail === undefined ? why : `${why}: ${detail}`,
      ...(isNew && { time: timeOfEnd(state, logged) }),
    }),
  );
  return { kind: "ended" };
}

/** A task that is over, with all that is known about it. */
interface OverTask {
  readonly folder: string;
  readonly task: SubmittedTask;
  readonly report: TaskReport | undefined;
  readonly slurmLines: readonly string[];
  readonly logged: LoggedEnd | undefined;
  readonly logsOf: JobLogs;
}

/** How a task ended, according to Slurm and, if that is not enough, its last output. */
function endOf({ folder, logged, logsOf, report, slurmLines, task }: OverTask): {
  readonly endedBy: Ender;
  readonly why: string;
  /** The reason if it ran out of memory. */
  readonly lack: string | undefined;
  /** Slurm's report or log; undefined without either. */
  readonly lastReport: TaskReport | undefined;
} {
  // A task that was cancelled, or lost its node, still has to run, whatever it printed.
  const mayLack =
    report === undefined || endStatus(ENDERS[report.state] ?? UNKNOWN, false) === "failed";
  const jobLines = mayLack ? lastJobLines(logsOf(task)) : [];
  const lastReport = report ?? loggedReport(task, logged);
  const lack = mayLack ? outOfMemory([...slurmLines, ...jobLines], task, report) : undefined;
  if (lack !== undefined)
    return { endedBy: lack.endedBy, why: lack.text, lack: lack.text, lastReport };
  const why =
    lastReport === undefined
      ? "Slurm no longer knows it, and it left no result"
      : whyOver(lastReport);
  const signal = signalOf(lastReport);
  const endedBy: Ender =
    signal === undefined ? (ENDERS[lastReport?.state ?? ""] ?? UNKNOWN) : { by: "signal", signal };
  const isStopped = endStatus(endedBy, false) === "stopped";
  return {
    endedBy: isStopped ? signalledBy(folder, task.number, endedBy) : endedBy,
    why,
    lack: undefined,
    lastReport,
  };
}

/** The end of a task that Slurm has forgotten, from its log. */
const loggedReport = (
  { array, index }: SubmittedTask,
  end: LoggedEnd | undefined,
): TaskReport | undefined =>
  end && { array, index, reason: null, state: end.state, exitCode: end.exitCode };

/**
 * The record may be made hours after the end. Undefined if the time is unknown, or the clocks of two machines disagree.
 */
function timeOfEnd({ attempts }: JobState, logged: LoggedEnd | undefined): Date | undefined {
  const started = Date.parse(attempts.at(-1)?.started ?? "");
  const time = logged?.ended?.getTime();
  return time !== undefined && time >= started && time <= Date.now() ? new Date(time) : undefined;
}

/**
 * The record of a job that knows only the signal by which its scheduler ended it: keeps its own error and appends the
 * cause. Undefined if the record has the cause, or Slurm does not.
 */
function endedByScheduler(state: JobState, endedBy: Ender, why: string): JobState | undefined {
  const last = state.attempts.at(-1);
  const isCause = endedBy.by === "cancel" || (endedBy.by === "scheduler" && endedBy !== UNKNOWN);
  // Another process may have done this at the same moment.
  if (last === undefined || !isCause || last.ended_by?.by === endedBy.by) return undefined;
  const error = last.error === null ? why : `${last.error}; ${why}`;
  const attempts = [...state.attempts.slice(0, -1), { ...last, ended_by: endedBy, error }];
  return { ...state, attempts };
}

/** Whether the last attempt can belong to this task, rather than to another one or to a local launcher. */
function mayBeOf(task: SubmittedTask, { attempts }: JobState): boolean {
  const { details, id } = attempts.at(-1) ?? {};
  const runsAs = details?.["scheduler"];
  return runsAs === undefined ? id === undefined : runsAs === taskName(task);
}

/**
 * The signal that ended a task's script before its job could record that: a worker ends with such a code only then.
 */
const signalOf = (report: TaskReport | undefined): Signal | undefined =>
  report?.state === "FAILED"
    ? INTERRUPTS.find((signal) => signalCode(signal) === report.exitCode)
    : undefined;

/**
 * The reason and a hint if a task's job ran out of memory; undefined for others. Slurm does not always report this
 * itself: the task whose step was killed just counts as failed, and an old one is forgotten. So the last output is
 * searched.
 *
 * @param lines the last log lines of Slurm and the job
 * @param report Slurm's last report; undefined if it no longer knows the task
 */
function outOfMemory(
  lines: readonly string[],
  task: SubmittedTask,
  report: TaskReport | undefined,
): { readonly endedBy: Ender; readonly text: string } | undefined {
  if (isHeapFull(lines))
    return { endedBy: ITSELF, text: `out of memory: Node's heap is full; ${MORE_HEAP}` };
  if (report?.state !== "OUT_OF_MEMORY" && !lines.some((line) => OVER_LIMIT.test(line)))
    return undefined;
  const more = `${moreMemory(task)} gives each job more`;
  return {
    endedBy: { by: "out_of_memory" },
    text: `out of memory: it used more than Slurm allotted; ${more}`,
  };
}

/** Slurm accepts only one of the keys for memory: the one that was set. */
const moreMemory = ({ memory_key = "mem_gb" }: SubmittedTask): string =>
  `hydra.launcher.${memory_key}=${memory_key === "mem_gb" ? "GB" : "SIZE"}`;

/** Slurm's own messages, in versions from 17 on; a program may print the same words about something else. */
const OVER_LIMIT =
  /^(slurmstepd|srun)[^ ]*: .*(oom[-_]kill|Out Of Memory|xceeded (job |step )?memory limit)/;
