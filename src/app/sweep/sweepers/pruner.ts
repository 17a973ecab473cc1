/** Which jobs of a search are not worth going on, by what they and others report while they run. */
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import type { Direction } from "./objective.ts";

/** When a search ends a job early: its numbers are those that jobs report with each step. */
export interface PruningRule {
  readonly kind: "median" | "successive_halving";
  /** The key of the number in a line of metrics. */
  readonly metric: string;
  readonly direction: Direction;
  /** No job ends before this step. */
  readonly minStep: number;
  /** `median`: no job ends before so many others are completed. */
  readonly startupJobs: number;
  /** `successive_halving`: one of so many jobs goes on at each rung, and each rung is so many times as far as the one before. */
  readonly eta: number;
}

/** What decides which jobs of a search end early. It knows each job by a number. */
export interface Pruner {
  /** Takes a value of a running job. @returns whether the job is to end */
  report(job: number, step: number, value: number): boolean;
  /** A job is completed: `median` compares others with it from now on. */
  complete(job: number): void;
  /** A job begins again: what it reported does not count any more. */
  forget(job: number): void;
}

/** A sweeper that decides itself which of its jobs end early. */
export interface OwnPruning {
  readonly kind: "own";
  /** The key of the number in a line of metrics. */
  readonly metric: string;
  readonly pruner: Pruner;
  /**
   * The number by which the pruner knows a job; undefined for one that it does not know, which does not end early.
   * @param job as `ask` gave it, the same array
   */
  numberOf(job: readonly string[]): number | undefined;
}

export const createPruner = (rule: PruningRule): Pruner =>
  rule.kind === "median" ? medianPruner(rule) : halvingPruner(rule);

/** Lower is better; what is no number is worse than all numbers. */
const lossOf = (value: number, direction: Direction): number => {
  if (Number.isNaN(value)) return Number.POSITIVE_INFINITY;
  return direction === "minimize" ? value : -value;
};

/** A job ends if the best of its values is worse than the median of the completed jobs at the same step. */
function medianPruner({ direction, minStep, startupJobs }: PruningRule): Pruner {
  const curves = new Map<number, { readonly step: number; readonly loss: number }[]>();
  const completed = new Set<number>();
  const best = new Map<number, number>();
  return {
    report(job, step, value) {
      const loss = lossOf(value, direction);
      getOrCreate(curves, job, () => []).push({ step, loss });
      const ownBest = Math.min(loss, best.get(job) ?? Number.POSITIVE_INFINITY);
      best.set(job, ownBest);
      if (step < minStep) return false;
      const others = [...completed].flatMap(
        (other) => (curves.get(other) ?? []).findLast((point) => point.step <= step)?.loss ?? [],
      );
      if (others.length < Math.max(1, startupJobs)) return false;
      return ownBest > medianOf(others);
    },
    complete: (job) => void completed.add(job),
    forget(job) {
      curves.delete(job);
      best.delete(job);
      completed.delete(job);
    },
  };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const high = Math.floor(sorted.length / 2);
  const [below = 0, above = 0] = [sorted[high - 1], sorted[high]];
  // Half of an infinity and its opposite is no number.
  return sorted.length % 2 === 1 || below === above ? above : (below + above) / 2;
}

/**
 * Asynchronous successive halving (Li et al., "A System for Massively Parallel Hyperparameter Tuning", 2020), in the form that ends
 * jobs: at a rung a job goes on if it is among the best 1/eta of those that have been there.
 */
function halvingPruner({ direction, eta, minStep }: PruningRule): Pruner {
  const rungs: Map<number, number>[] = [];
  const reached = new Map<number, number>();
  return {
    report(job, step, value) {
      const loss = lossOf(value, direction);
      for (let rung = reached.get(job) ?? 0; step >= minStep * eta ** rung; rung++) {
        reached.set(job, rung + 1);
        const losses = rungs[rung] ?? new Map<number, number>();
        rungs[rung] = losses;
        losses.set(job, loss);
        const better = [...losses.values()].filter((other) => other < loss).length;
        if (better >= Math.max(1, Math.floor(losses.size / eta))) return true;
      }
      return false;
    },
    complete: () => {},
    forget(job) {
      reached.delete(job);
      for (const losses of rungs) losses.delete(job);
    },
  };
}
