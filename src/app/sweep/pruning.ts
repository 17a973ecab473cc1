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
    const known = followed.get(job.number);
    if (known !== undefined) return known;
    const one: Followed = {
      job,
      number: numberOf(job),
      read: followMetrics(join(job.outputDir, METRICS_FILE), () => beginAgain(one)),
      lines: 0,
      isPruned: false,
      isOver: false,
    };
    followed.set(job.number, one);
    return one;
  };
  const beginAgain = (one: Followed): void => {
    if (one.number !== undefined) pruner.forget(one.number);
    Object.assign(one, { isOver: false, isPruned: false, lines: 0 });
  };
  /** @returns the step at which the job is to end */
  const lookAt = (one: Followed): number | undefined => {
    let end: number | undefined;
    for (const metrics of one.read()) {
      one.lines++;
      const { numberAt, step } = pointOf(metrics, one.lines);
      const value = numberAt(rule.metric);
      if (value === undefined || one.number === undefined) continue;
      if (pruner.report(one.number, step, value)) end ??= step;
    }
    return end;
  };
  const finish = (one: Followed): void => {
    lookAt(one);
    const result = resultOf(one.job);
    if (one.number !== undefined && result !== undefined && isCompleted(result))
      pruner.complete(one.number);
    one.isOver = true;
  };
  return {
    note(jobs) {
      for (const job of jobs) finish(followedOf(job));
    },
    look(running) {
      const numbers = new Set(running.map(({ number }) => number));
      for (const one of followed.values())
        if (!one.isOver && !numbers.has(one.job.number)) finish(one);
      return running.flatMap((job) => {
        const one = followedOf(job);
        // Another attempt.
        if (one.isOver) beginAgain(one);
        const step = lookAt(one);
        if (step === undefined || one.isPruned) return [];
        one.isPruned = true;
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
