/** Ends jobs of a search early: follows their metrics, and asks its pruner. */
import { join } from "node:path";
import { isCompleted, type JobResult } from "../job/job.ts";
import { followMetrics, METRICS_FILE, type Metrics, pointOf } from "../job/metrics.ts";
import type { SweepJob } from "../job/plan-job.ts";
import type { Pruning } from "../launch/launcher.ts";
import { createPruner, type OwnPruning, type PruningRule } from "./sweepers/pruner.ts";

/** @param resultOf the result of a job that has ended */
export function createPruning(
  rule: PruningRule | OwnPruning,
  resultOf: (job: SweepJob) => JobResult | undefined,
): Pruning {
  const pruner = rule.kind === "own" ? rule.pruner : createPruner(rule);
  const numberOf = ({ number, swept }: SweepJob): number | undefined =>
    rule.kind === "own" ? rule.numberOf(swept) : number;
  const followed = new Map<number, Followed>();
  const followedOf = (job: SweepJob): Followed => {
    const existing = followed.get(job.number);
    if (existing !== undefined) return existing;
    const state: Followed = {
      job,
      number: numberOf(job),
      read: followMetrics(join(job.outputDir, METRICS_FILE), () => beginAgain(state)),
      lines: 0,
      isPruned: false,
      isOver: false,
    };
    followed.set(job.number, state);
    return state;
  };
  const beginAgain = (followedJob: Followed): void => {
    if (followedJob.number !== undefined) pruner.forget(followedJob.number);
    Object.assign(followedJob, { isOver: false, isPruned: false, lines: 0 });
  };
  /** @returns the step at which the job is to end */
  const lookAt = (followedJob: Followed): number | undefined => {
    let end: number | undefined;
    for (const metrics of followedJob.read()) {
      followedJob.lines++;
      const { numberAt, step } = pointOf(metrics, followedJob.lines);
      const value = numberAt(rule.metric);
      if (value === undefined || followedJob.number === undefined) continue;
      if (pruner.report(followedJob.number, step, value)) end ??= step;
    }
    return end;
  };
  const finish = (followedJob: Followed): void => {
    lookAt(followedJob);
    const result = resultOf(followedJob.job);
    if (followedJob.number !== undefined && result !== undefined && isCompleted(result))
      pruner.complete(followedJob.number);
    followedJob.isOver = true;
  };
  return {
    note(jobs) {
      for (const job of jobs) finish(followedOf(job));
    },
    look(running) {
      const numbers = new Set(running.map(({ number }) => number));
      for (const state of followed.values())
        if (!state.isOver && !numbers.has(state.job.number)) finish(state);
      return running.flatMap((job) => {
        const state = followedOf(job);
        // Another attempt.
        if (state.isOver) beginAgain(state);
        const step = lookAt(state);
        if (step === undefined || state.isPruned) return [];
        state.isPruned = true;
        return [{ number: job.number, step }];
      });
    },
  };
}

interface Followed {
  readonly job: SweepJob;
  /** How the pruner knows it; undefined if it does not. */
  readonly number: number | undefined;
  readonly read: () => readonly Metrics[];
  lines: number;
  isPruned: boolean;
  /** Whether its last attempt has ended. What that reported is not read again. */
  isOver: boolean;
}
