import { plainAt } from "../job/hydra-values.ts";
import { isSignalCode, isUndone, type JobResult, wasStopped } from "../job/job.ts";
import type { JobState } from "../record/job-state.ts";
import { countedExitCode } from "../record/recorded-job.ts";
import { ConfigError } from "../values/errors.ts";
import type { MapNode } from "../values/node.ts";
import type { ResolveContext } from "../values/resolution/context.ts";

const KEY = "hydra.launcher.on_failure";

/** What a sweep does once jobs fail. Jobs that run already always run to their end. */
export type FailurePolicy =
  /** As Hydra: the batch goes on, and no other batch follows. */
  | { readonly kind: "finish_batch" }
  | { readonly kind: "continue" }
  /** No job starts after this many have failed. */
  | { readonly kind: "stop"; readonly after: number };

/**
 * `hydra.launcher.on_failure`: `continue`, `stop`, `stop_after:N`; Hydra's own way where it is null
 * or not there.
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

/** Counts failures over the batches of a sweep and says whether it may go on. */
export interface FailureGate {
  count(result: JobResult): void;
  /** Whether another job may start. */
  mayStart(): boolean;
  /** Whether another batch may follow. */
  mayFollow(): boolean;
  /** Whether another process has ended the sweep. */
  isClosed(): boolean;
}

/** @param isClosed whether another process has ended the sweep: asked before each job */
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

/** Whether a job went wrong: it threw, or said so by its exit code. */
export const hasFailed = ({ exitCode, status }: JobResult): boolean =>
  status === "failed" || exitCode !== 0;

/** What of a job decides the exit code of its sweep. */
export interface JobEnd {
  readonly isCompleted: boolean;
  /** Null where there is none: it was lost, or a signal killed its process. */
  readonly exitCode: number | null;
}

/**
 * Whether a failure is none of its sweep, where its sweeper tolerates failures: what came to no end of its own is none that the sweeper
 * was notified of for good.
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
 * The exit code of a sweep, whatever `on_failure` lets it do after a failure: 0 when every job is
 * completed; 128 and the number of the signal that stopped one; else the code of the first job that
 * has another than 0; else 1: jobs were lost or never started.
 *
 * @param jobs in their order; undefined for one that came to no end
 */
export function sweepExitCode(jobs: readonly (JobEnd | undefined)[]): number {
  const open = jobs.filter((job) => job?.isCompleted !== true);
  if (open.length === 0) return 0;
  const codes = open.map((job) => job?.exitCode ?? null);
  return codes.find((code) => code !== null && isSignalCode(code)) ?? codes.find(Boolean) ?? 1;
}
