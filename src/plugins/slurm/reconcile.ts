import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { isSignalCode } from "../../job/job.ts";
import { isHeapFull, MORE_HEAP } from "../../launch/job-log.ts";
import {
  type AttemptEnd,
  begun,
  ended,
  hasEnded,
  type JobState,
  readJobState,
  writeJobState,
} from "../../record/job-state.ts";
import { jobsFolder } from "../../record/layout.ts";
import { scheduledBy } from "../../record/orphans.ts";
import { draftBeside } from "../../system/atomic-write.ts";
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

/** What Slurm's word for the end of a task makes of a job that did not tell its own end. */
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
 * Writes into the records of jobs how they ended that could not write it themselves.
 *
 * @param report what Slurm said last; undefined where it knows the task no more
 */
export type Reconcile = (task: SubmittedTask, report: TaskReport | undefined) => Reconciled;

/** For tasks that are known to be over by now, of a sweep with this folder: what they wrote before is looked for once. */
export function createReconcile(folder: string): Reconcile {
  lookAgain(jobsFolder(folder));
  const logsOf = createJobLogs();
  return (task, report) => reconcile(folder, task, report, logsOf);
}

/** Out of time or memory is a job's own failure; cancelled or on a node that failed, it was stopped and is still to be done. */
function reconcile(
  folder: string,
  task: SubmittedTask,
  report: TaskReport | undefined,
  logsOf: JobLogs,
): Reconciled {
  const state = readJobState(folder, task.number);
  const isNew = state !== undefined && state.attempts.length > task.attempts;
  // Who looked before the job was submitted anew must not end what runs now.
  if (isNew && !mayBeOf(task, state)) return "recorded already";
  if (isNew && hasEnded(state)) return "recorded already";
  noteOver(folder, task);
  const slurmLines = lastSlurmLines(folder, task);
  const logged = loggedEnd(folder, task);
  const { known, lack, status, why } = endOf({ task, report, slurmLines, logged, logsOf });
  if (!isNew && status === "stopped") return { kind: "dropped", reason: why };
  // Its own word is better than Slurm's for the code that it ended with.
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

/** A task that is over, and what is known of that. */
interface OverTask {
  readonly task: SubmittedTask;
  readonly report: TaskReport | undefined;
  readonly slurmLines: readonly string[];
  readonly logged: LoggedEnd | undefined;
  readonly logsOf: JobLogs;
}

/** How a task ended, by what Slurm says and, where that is not enough, by what was printed last. */
function endOf({ logged, logsOf, report, slurmLines, task }: OverTask): {
  readonly status: AttemptEnd["status"];
  readonly why: string;
  /** The same where it ran out of memory. */
  readonly lack: string | undefined;
  /** What Slurm said, or has logged; undefined where that is nothing. */
  readonly known: TaskReport | undefined;
} {
  // What was cancelled, or lost its node, is still to be done, whatever it printed.
  const mayLack = report === undefined || STATUS[report.state] === "failed";
  const jobLines = mayLack ? lastJobLines(logsOf(task)) : [];
  const known = report ?? loggedReport(task, logged);
  const lack = mayLack ? outOfMemory([...slurmLines, ...jobLines], task, report) : undefined;
  if (lack !== undefined) return { status: "failed", why: lack, lack, known };
  const why =
    known === undefined ? "Slurm no longer knows it, and it left no result" : whyOver(known);
  const told = STATUS[known?.state ?? ""] ?? "stopped";
  return { status: askedToEnd(known) ? "stopped" : told, why, lack, known };
}

/** Of a task that Slurm has forgotten, what its log says of the end. */
const loggedReport = (
  { array, index }: SubmittedTask,
  end: LoggedEnd | undefined,
): TaskReport | undefined =>
  end && { array, index, reason: null, state: end.state, exitCode: end.exitCode };

/** It may be read hours later. Undefined where it is not known, or the clocks of two machines disagree. */
function timeOfEnd({ attempts }: JobState, logged: LoggedEnd | undefined): Date | undefined {
  const started = Date.parse(attempts.at(-1)?.started ?? "");
  const at = logged?.at?.getTime();
  return at !== undefined && at >= started && at <= Date.now() ? new Date(at) : undefined;
}

/** Why Slurm stopped a job that can only say by which signal. */
const CAUSES: ReadonlySet<string> = new Set([
  "BOOT_FAIL",
  "LAUNCH_FAILED",
  "NODE_FAIL",
  "PREEMPTED",
]);

/** What a job said of its end stays, and why it came to that is added. */
function stoppedBy(state: JobState, why: string): JobState {
  const last = state.attempts.at(-1);
  // Another process may have looked at the same moment.
  if (last === undefined || last.error?.includes(why) === true) return state;
  const error = last.error === null ? why : `${last.error}; ${why}`;
  return { ...state, attempts: [...state.attempts.slice(0, -1), { ...last, error }] };
}

/**
 * Makes a client of NFS forget which files a folder does not have: it may believe for a minute that there is no record
 * which another machine has written. A change of its own is what it takes.
 */
function lookAgain(folder: string): void {
  const change = draftBeside(join(folder, "change"));
  try {
    mkdirSync(change);
    rmdirSync(change);
  } catch {
    // It cannot be written, or is not there: then nothing can be recorded either, and that is reported there.
  }
}

/** Whether the last attempt is no other task's, nor one of a launcher of a machine. */
function mayBeOf(task: SubmittedTask, { attempts }: JobState): boolean {
  const { details, id } = attempts.at(-1) ?? {};
  const runsAs = details?.["scheduler"];
  return runsAs === undefined ? id === undefined : runsAs === taskName(task);
}

/** Codes of a script that was told to end, by SIGHUP, SIGINT or SIGTERM, before its job could record that. */
const ASKED_TO_END: ReadonlySet<number> = new Set([129, 130, 143]);

const askedToEnd = (report: TaskReport | undefined): boolean =>
  report?.state === "FAILED" && ASKED_TO_END.has(report.exitCode ?? 0);

const endedBySignal = (report: TaskReport | undefined): boolean =>
  report?.state === "FAILED" && isSignalCode(report.exitCode ?? 0);

/**
 * Why the job of a task ended, and what to do, where it ran out of memory; undefined for others. Slurm does not always say so
 * itself: the task whose step was killed has just failed, and one whose time is past is forgotten. What was printed last tells.
 *
 * @param lines what Slurm and the job have logged last
 * @param report what Slurm said last; undefined where it knows the task no more
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

/** Slurm takes only one of the keys that say how much: it is the one that was set. */
const moreMemory = ({ memory_key = "mem_gb" }: SubmittedTask): string =>
  `hydra.launcher.${memory_key}=${memory_key === "mem_gb" ? "GB" : "SIZE"}`;

/** Slurm's own words, in versions from 17 on; a program may use the same of something else. */
const OVER_LIMIT =
  /^(slurmstepd|srun)[^ ]*: .*(oom[-_]kill|Out Of Memory|xceeded (job |step )?memory limit)/;
