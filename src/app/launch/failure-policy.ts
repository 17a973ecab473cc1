/** What a sweep does after a job has failed. */
import type { MapNode } from "../../engine/values/node.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import type { Signal } from "../../foundation/system/platform-types.ts";
import { signalCode } from "../../foundation/system/process-signals.ts";
import {
  type Ender,
  type EndStatus,
  isFailure,
  isSettled,
  MOST_OWN_CODE,
  stopOfSweep,
} from "../job/ender.ts";
import { plainAt } from "../job/hydra-values.ts";
import { enderOf, isSettledJob, type JobResult, statusOf } from "../job/job.ts";
import { readSettings } from "../job/settings.ts";
import { type JobState, recordedEnder } from "../record/job-state.ts";
import { type FailurePolicy, ON_FAILURE } from "./launcher-settings.ts";

/** Hydra's own setting of its own sweeper, for its own launcher. */
const FAIL_FAST = "hydra.sweeper.fail_fast";

/**
 * The reaction to failed jobs that `hydra.launcher.on_failure` asks for, and without it `hydra.sweeper.fail_fast`.
 *
 * @throws ConfigError `value.wrong_type` for one that does not exist
 */
export function failurePolicy(root: MapNode, context: ResolveContext): FailurePolicy {
  const policy = readSettings(
    { on_failure: ON_FAILURE },
    {
      key: "hydra.launcher",
      valueOf: (name) => plainAt(root, `hydra.launcher.${name}`, context),
    },
  ).on_failure;
  const asHydra = policy.kind === "finish_batch";
  return asHydra && failsFast(root, context) ? { kind: "stop", after: 1 } : policy;
}

/** Whether `hydra.sweeper.fail_fast` is set. */
export const failsFast = (root: MapNode, context: ResolveContext): boolean =>
  plainAt(root, FAIL_FAST, context) === true;

/** Counts failures over the batches of a sweep and decides whether it may continue. */
export interface FailureGate {
  count(result: JobResult): void;
  /** No other job starts: a signal asked the sweep to end. The first signal counts. */
  stop(signal: Signal): void;
  /** The signal that stopped the sweep; undefined if none did. */
  stoppedBy(): Signal | undefined;
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
  let stoppedBy: Signal | undefined;
  const stop = (signal: Signal): void => {
    stoppedBy ??= signal;
  };
  const mayStart = () =>
    stoppedBy === undefined && !(policy.kind === "stop" && failed >= policy.after) && !isClosed();
  return {
    isClosed,
    stop,
    stoppedBy: () => stoppedBy,
    count(result) {
      const signal = stopOfSweep(enderOf(result));
      if (signal !== undefined) stop(signal);
      else if (!isSettledJob(result)) failed++;
    },
    mayStart,
    mayFollow: () => mayStart() && !(policy.kind === "finish_batch" && failed > 0),
  };
}

/** The facts about a job that determine the exit code of its sweep. */
export interface JobEnd {
  readonly status: EndStatus;
  readonly endedBy: Ender;
  /** Null if it has none: the job was lost, or a signal killed its process. */
  readonly exitCode: number | null;
}

/**
 * Whether a sweeper that tolerates failures tolerates this one. A job that was ended from outside or lost is not
 * tolerated: the sweeper has no final result of it.
 */
export const isTolerated = (result: JobResult): boolean => isFailure(statusOf(result));

export const endOfResult = (result: JobResult): JobEnd => ({
  status: statusOf(result),
  endedBy: enderOf(result),
  exitCode: result.exitCode,
});

/** Undefined for a job that has not ended. */
export function endOfState(state: JobState): JobEnd | undefined {
  const { attempts, status } = state;
  const endedBy = recordedEnder(state);
  if (endedBy === undefined || status === "queued" || status === "running") return undefined;
  return { status, endedBy, exitCode: attempts.at(-1)?.exit_code ?? null };
}

/**
 * The exit code of a sweep, whatever `on_failure` allows after a failure: 0 if every job is completed or pruned; 128 plus the
 * number of the signal that stopped the sweep; else the code of the first job that failed by itself with a code of its
 * own; else 1: jobs were lost, took too long or never started.
 *
 * @param jobs in order; undefined for a job without an end
 * @param stoppedBy the signal that stopped the sweep, if that is known otherwise than by a job that it ended
 */
export function sweepExitCode(jobs: readonly (JobEnd | undefined)[], stoppedBy?: Signal): number {
  const open = jobs.filter((job) => !isSettled(job?.status));
  if (open.length === 0) return 0;
  const stops = open.flatMap((job) => (job && stopOfSweep(job.endedBy)) ?? []);
  const [signal = stoppedBy] = stops;
  if (signal !== undefined) return signalCode(signal);
  const codes = open.flatMap((job) => (job?.endedBy.by === "itself" ? (job.exitCode ?? []) : []));
  // A larger code would look as if a signal had ended the sweep.
  return codes.map((code) => (code > MOST_OWN_CODE ? 1 : code)).find(Boolean) ?? 1;
}
