/** Who ended an attempt at a job, and what follows from that. */
import type { Signal } from "../../foundation/system/platform-types.ts";
import { signalCode } from "../../foundation/system/process-signals.ts";

/**
 * Why a scheduler ended an attempt at a job. `requeued`: it started the job again, for whichever of these reasons;
 * `unknown`: it does not say.
 */
export type SchedulerCause =
  | "time_limit"
  | "preempted"
  | "node_lost"
  | "cancelled"
  | "requeued"
  | "unknown";

/**
 * Who ended an attempt at a job. It is recorded once (`ended_by` of the attempt); the job's status, its words and the
 * exit code of its sweep follow from it, and never from an exit code above 128: a program may end with any code by
 * itself. Keys are those of the record.
 */
export type Ender =
  /** The job: it returned, failed, or crashed. */
  | { readonly by: "itself" }
  /** The launcher, after the time that an attempt may take. */
  | { readonly by: "time_limit"; readonly limit_ms: number }
  /** The pruner of a search: at this step of the job's metrics, others were better. */
  | { readonly by: "pruner"; readonly step: number }
  /** `hydraconf sweep cancel`. */
  | { readonly by: "cancel" }
  /** The launcher, because a signal stopped the whole sweep. */
  | { readonly by: "launcher"; readonly signal: Signal }
  /** A process outside the sweep, by a signal to the job alone. */
  | { readonly by: "signal"; readonly signal: Signal }
  | { readonly by: "scheduler"; readonly cause: SchedulerCause }
  /** The kernel, or a scheduler's memory limit. */
  | { readonly by: "out_of_memory" }
  /** Nobody noted it: the process is gone, or the machine was restarted. */
  | { readonly by: "unknown" };

export const ITSELF: Ender = { by: "itself" };

/**
 * The state of a job that has ended. `completed`, `pruned`, `failed` and `timed_out` are final: such a job runs again only on
 * request. `stopped`: it still has to run.
 */
export type EndStatus = "completed" | "pruned" | "failed" | "stopped" | "timed_out";

/** Whether a job has come to the end that its sweep wanted: it is done, or was not worth going on. */
export const isSettled = (status: string | undefined): status is "completed" | "pruned" =>
  status === "completed" || status === "pruned";

/** @param isSuccess whether the job reported success; counts only if it ended by itself */
export function endStatus(ender: Ender, isSuccess: boolean): EndStatus {
  switch (ender.by) {
    case "itself":
      return isSuccess ? "completed" : "failed";
    case "time_limit":
      return "timed_out";
    case "pruner":
      return "pruned";
    case "out_of_memory":
      // Another attempt would run out of memory again.
      return "failed";
    case "scheduler":
      return ender.cause === "time_limit" ? "timed_out" : "stopped";
    case "cancel":
    case "launcher":
    case "signal":
    case "unknown":
      return "stopped";
  }
}

/** Whether a job has come to an end of its own and that was not good: only `--retry-failed` runs it again. */
export const isFailure = (status: string | undefined): status is "failed" | "timed_out" =>
  status === "failed" || status === "timed_out";

/** The signal that stopped the whole sweep, if that ended the job; undefined for every other end. */
export function stopOfSweep(ender: Ender): Signal | undefined {
  if (ender.by === "launcher") return ender.signal;
  return ender.by === "cancel" ? CANCEL_SIGNAL : undefined;
}

/** The signal with which `sweep cancel` asks processes to end. */
const CANCEL_SIGNAL = "SIGTERM";

/** The signal with which a pruner asks a job to end. */
export const PRUNE_SIGNAL = "SIGTERM";

/** The largest exit code that a program may end with by itself without looking as if a signal had ended it. */
export const MOST_OWN_CODE = 128;

/**
 * How a process reports the end of its job by its own exit code: above 128 only if a signal asked it to end.
 *
 * @param code the job's own
 */
export function processCode(ender: Ender, code: number): number {
  if (ender.by === "itself") return code > MOST_OWN_CODE ? 1 : code;
  const signal =
    ender.by === "signal"
      ? ender.signal
      : ender.by === "pruner"
        ? PRUNE_SIGNAL
        : stopOfSweep(ender);
  return signal === undefined ? 1 : signalCode(signal);
}

/** Why a job has ended that did not end by itself, in one line; undefined for one that did. */
export function enderText(ender: Ender): string | undefined {
  switch (ender.by) {
    case "itself":
      return undefined;
    case "time_limit":
      return `took longer than ${duration(ender.limit_ms)}`;
    case "pruner":
      return `pruned at step ${ender.step}`;
    case "cancel":
      return "cancelled";
    case "launcher":
      return `stopped with the sweep by ${ender.signal}`;
    case "signal":
      return `${ender.signal === "SIGKILL" ? "killed" : "stopped"} by ${ender.signal}`;
    case "scheduler":
      return `the scheduler ended it${CAUSES[ender.cause]}`;
    case "out_of_memory":
      return "killed by SIGKILL: the machine ran out of memory";
    case "unknown":
      return "its process is gone";
  }
}

const CAUSES: Readonly<Record<SchedulerCause, string>> = {
  time_limit: ": out of time",
  preempted: ": preempted",
  node_lost: ": its node failed",
  cancelled: ": cancelled",
  requeued: ": queued again",
  unknown: "",
};

const duration = (milliseconds: number): string =>
  milliseconds < 60_000 ? `${milliseconds / 1000} s` : `${milliseconds / 60_000} min`;
