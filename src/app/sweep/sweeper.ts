import type { Composition } from "../../compose/index.ts";
import type { ResolveContext } from "../../values/interpolation/context.ts";
import type { JobResult } from "../job/job.ts";

/** The overrides of one job of a sweep, as they would be typed. */
export type JobOverrides = readonly string[];

/**
 * Proposes the jobs of a sweep, batch by batch. What became of a batch is told before the next is
 * asked for, so that a sweeper may learn from it.
 */
export interface Sweeper {
  /** The next jobs; undefined when the sweep is over. */
  ask(): readonly JobOverrides[] | undefined;
  /** The results of the jobs that were asked for last, in their order. */
  tell(results: readonly JobResult[]): void;
}

export interface SweeperRequest {
  /** The composition that the sweep starts from: its overrides still hold the sweeps. */
  readonly master: Composition;
  /** The overrides of the task, in which the sweeps stand. */
  readonly overrides: readonly string[];
  readonly context: ResolveContext;
}

/** A sweeper that configs can choose. A kind is data: what opens sweepers only iterates. */
export interface SweeperKind {
  /** The classes that `hydra.sweeper._target_` may name for it. */
  readonly targets: readonly string[];
  /** @throws ConfigError for sweeps that it cannot do */
  readonly open: (request: SweeperRequest) => Sweeper;
}
