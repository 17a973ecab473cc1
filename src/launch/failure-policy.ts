import { plainAt } from "../job/hydra-values.ts";
import { isSignalCode, isUndone, type JobResult, wasStopped } from "../job/job.ts";
import type { JobState } from "../record/job-state.ts";
import { countedExitCode } from "../record/recorded-job.ts";
import { ConfigError } from "../values/errors.ts";
import type { MapNode } from "../values/node.ts";
import type { ResolveContext } from "../values/resolution/context.ts";

const KEY = "hydra.launcher.on_failure";

/** The reaction of a sweep to failed jobs. Running jobs always run to their end. */
export type FailurePolicy =
  /** As Hydra: the batch continues, and no other batch follows. */
  | { readonly kind: "finish_batch" }
  | { readonly kind: "continue" }
  /** No job starts after this many have failed. */
  | { readonly kind: "stop"; readonly after: number };

/**
 * `hydra.launcher.on_failure`: `continue`, `stop`, `stop_after:N`; Hydra's behaviour if it is null or absent.
 *
 * @throws ConfigError `value.wrong_type` for anything else
 */
export function failurePolicy(root: MapNode, context: ResolveContext): FailurePolicy {
  const value = plainAt(root, KEY, context);
  if (value === undefined || value === null) return { kind: "finish_batch" };
  const text = String(value);
  if (text === "continue") return { kind: "continue" };
  if (text === "stop") return { kind: "stop", after: 1 };
  const after = Number(/^stop_after:\s*(\d+)$/.exec(text)?.[1] ?? 0);
  if (after > 0) return { kind: "stop", after };
  throw new ConfigError({
    code: "value.wrong_type",
    message: `${KEY} cannot be '${text}'`,
    key: KEY,
    available: ["continue", "stop", "stop_after:N"],
  });
}

/** Counts failures over the batches of a sweep and decides whether it may continue. */
export interface FailureGate {
  count(result: JobResult): void;
  /** Whether another job may start. */
  mayStart(): boolean;
  /** Whether another batch may follow. */
  mayFollow(): boolean;
  /** Whether another process has ended the sweep. */
  isClosed(): boolean;
}

/** @param isClosed whether another process has ended the sweep; called before each job */
export function openGate(policy: FailurePolicy, isClosed = () => false): FailureGate {
  let failed = 0;
  let stopped = false;
  const mayStart = () =>
    !stopped && !(policy.kind === "stop" && failed >= policy.after) && !isClosed();
  return {
    isClosed,
    count(result) {
      if (wasStopped(result)) stopped = true;
      else if (hasFailed(result)) failed++;
    },
    mayStart,
    mayFollow: () => mayStart() && !(policy.kind === "finish_batch" && failed > 0),
  };
}

/** Whether a job failed: it threw, or returned an exit code other than 0. */
export const hasFailed = ({ exitCode, status }: JobResult): boolean =>
  status === "failed" || exitCode !== 0;

/** The facts about a job that determine the exit code of its sweep. */
export interface JobEnd {
  readonly isCompleted: boolean;
  /** Null if it has none: the job was lost, or a signal killed its process. */
  readonly exitCode: number | null;
}

/**
 * Whether a sweeper that tolerates failures tolerates this one. A job that was ended from outside or lost is not
 * tolerated: the sweeper has no final result of it.
 */
export const isTolerated = (result: JobResult): boolean => hasFailed(result) && !isUndone(result);

export const endOfResult = (result: JobResult): JobEnd => ({
  isCompleted: !hasFailed(result),
  exitCode: result.exitCode,
});

export const endOfState = (state: JobState): JobEnd => ({
  isCompleted: state.status === "completed",
  exitCode: countedExitCode(state),
});

/**
 * The exit code of a sweep, whatever `on_failure` allows after a failure: 0 if every job is completed; 128 plus the
 * number of a signal that stopped one; else the code of the first job with a code other than 0; else 1: jobs were lost
 * or never started.
 *
 * @param jobs in order; undefined for a job without an end
 */
export function sweepExitCode(jobs: readonly (JobEnd | undefined)[]): number {
  const open = jobs.filter((job) => job?.isCompleted !== true);
  if (open.length === 0) return 0;
  const codes = open.map((job) => job?.exitCode ?? null);
  return codes.find((code) => code !== null && isSignalCode(code)) ?? codes.find(Boolean) ?? 1;
}
