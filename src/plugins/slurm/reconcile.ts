import { isSignalCode } from "../../job/job.ts";
import { isHeapFull, MORE_HEAP } from "../../launch/job-log.ts";
import {
  type AttemptEnd,
  begun,
  ended,
  forgetMissingFiles,
  hasEnded,
  type JobState,
  lookAtJob,
  writeJobState,
} from "../../record/job-state.ts";
import { jobsFolder } from "../../record/layout.ts";
import { scheduledBy } from "../../record/orphans.ts";
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

/** The job status for each of Slurm's final task states, if the job has not recorded its own end. */
const STATUS: Readonly<Record<string, AttemptEnd["status"]>> = {
  COMPLETED: "failed",
  DEADLINE: "timed_out",
  FAILED: "failed",
  OUT_OF_MEMORY: "failed",
  TIMEOUT: "timed_out",
};

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
  const slurmLines = lastSlurmLines(folder, task);
  const logged = loggedEnd(folder, task);
  const { known, lack, status, why } = endOf({ task, report, slurmLines, logged, logsOf });
  if (!isNew && status === "stopped") return { kind: "dropped", reason: why };
  // The job's own record is more precise than Slurm about its exit code.
  const saysStopped = isNew && state.status === "stopped" && lack === undefined;
  if (saysStopped && (status === "stopped" || endedBySignal(known))) {
    if (CAUSES.has(known?.state ?? "")) writeJobState(folder, stoppedBy(state, why));
    return { kind: "ended" };
  }
  const detail = lack === undefined ? slurmLines.at(-1)?.trim() : undefined;
  const attempt = isNew
    ? state
    : begun(task.number, state, { details: scheduledBy({ id: taskName(task) }) });
  writeJobState(
    folder,
    ended(attempt, {
      status,
      exitCode: known?.exitCode || null,
      error: detail === undefined ? why : `${why}: ${detail}`,
      ...(isNew && { at: timeOfEnd(state, logged) }),
    }),
  );
  return { kind: "ended" };
}

/** A task that is over, with all that is known about it. */
interface OverTask {
  readonly task: SubmittedTask;
  readonly report: TaskReport | undefined;
  readonly slurmLines: readonly string[];
  readonly logged: LoggedEnd | undefined;
  readonly logsOf: JobLogs;
}

/** How a task ended, according to Slurm and, if that is not enough, its last output. */
function endOf({ logged, logsOf, report, slurmLines, task }: OverTask): {
  readonly status: AttemptEnd["status"];
  readonly why: string;
  /** The reason if it ran out of memory. */
  readonly lack: string | undefined;
  /** Slurm's report or log; undefined without either. */
  readonly known: TaskReport | undefined;
} {
  // A task that was cancelled, or lost its node, still has to run, whatever it printed.
  const mayLack = report === undefined || STATUS[report.state] === "failed";
  const jobLines = mayLack ? lastJobLines(logsOf(task)) : [];
  const known = report ?? loggedReport(task, logged);
  const lack = mayLack ? outOfMemory([...slurmLines, ...jobLines], task, report) : undefined;
  if (lack !== undefined) return { status: "failed", why: lack, lack, known };
  const why =
    known === undefined ? "Slurm no longer knows it, and it left no result" : whyOver(known);
  const status = STATUS[known?.state ?? ""] ?? "stopped";
  return { status: askedToEnd(known) ? "stopped" : status, why, lack, known };
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
  const at = logged?.at?.getTime();
  return at !== undefined && at >= started && at <= Date.now() ? new Date(at) : undefined;
}

/** Causes of a stop by Slurm; the job itself knows only the signal. */
const CAUSES: ReadonlySet<string> = new Set([
  "BOOT_FAIL",
  "LAUNCH_FAILED",
  "NODE_FAIL",
  "PREEMPTED",
]);

/** Keeps the job's own error and appends the cause. */
function stoppedBy(state: JobState, why: string): JobState {
  const last = state.attempts.at(-1);
  // Another process may have done this at the same moment.
  if (last === undefined || last.error?.includes(why) === true) return state;
  const error = last.error === null ? why : `${last.error}; ${why}`;
  return { ...state, attempts: [...state.attempts.slice(0, -1), { ...last, error }] };
}

/** Whether the last attempt can belong to this task, rather than to another one or to a local launcher. */
function mayBeOf(task: SubmittedTask, { attempts }: JobState): boolean {
  const { details, id } = attempts.at(-1) ?? {};
  const runsAs = details?.["scheduler"];
  return runsAs === undefined ? id === undefined : runsAs === taskName(task);
}

/** Exit codes of a script that SIGHUP, SIGINT or SIGTERM ended before its job could record that. */
const ASKED_TO_END: ReadonlySet<number> = new Set([129, 130, 143]);

const askedToEnd = (report: TaskReport | undefined): boolean =>
  report?.state === "FAILED" && ASKED_TO_END.has(report.exitCode ?? 0);

const endedBySignal = (report: TaskReport | undefined): boolean =>
  report?.state === "FAILED" && isSignalCode(report.exitCode ?? 0);

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
): string | undefined {
  if (isHeapFull(lines)) return `out of memory: Node's heap is full; ${MORE_HEAP}`;
  return report?.state === "OUT_OF_MEMORY" || lines.some((line) => OVER_LIMIT.test(line))
    ? `out of memory: it used more than Slurm allotted; ${moreMemory(task)} gives each job more`
    : undefined;
}

/** Slurm accepts only one of the keys for memory: the one that was set. */
const moreMemory = ({ memory_key = "mem_gb" }: SubmittedTask): string =>
  `hydra.launcher.${memory_key}=${memory_key === "mem_gb" ? "GB" : "SIZE"}`;

/** Slurm's own messages, in versions from 17 on; a program may print the same words about something else. */
const OVER_LIMIT =
  /^(slurmstepd|srun)[^ ]*: .*(oom[-_]kill|Out Of Memory|xceeded (job |step )?memory limit)/;
