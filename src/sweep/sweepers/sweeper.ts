import type { Composition, Repository } from "../../compose/index.ts";
import type { JobResult } from "../../job/job.ts";
import type { MapNode } from "../../values/node.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";

/** The overrides of one job of a sweep, as they would be typed. */
export type JobOverrides = readonly string[];

/**
 * Proposes the jobs of a sweep, batch by batch. The outcome of a batch is passed back before the next is
 * asked for, so that a sweeper may learn from it.
 */
export interface Sweeper {
  /** The next jobs; undefined when the sweep is over. */
  ask(): readonly JobOverrides[] | undefined;
  /** Whether other jobs may follow those that were asked for last, as far as is known before these have run. */
  mayAskForMore(): boolean;
  /** The results of the jobs that were asked for last, in their order; undefined for one that came to no end. */
  tell(results: readonly (JobResult | undefined)[]): void;
  /**
   * Set by a sweeper that decides by itself whether failed jobs end the sweep: then `ask` says so.
   * Without it no batch follows one with a failed job.
   */
  readonly judgesFailures?: true;
  /**
   * Why a job has failed that is completed: what it returned is of no use. Undefined for others; not there where
   * nothing is made of results.
   */
  problemOf?(result: JobResult): string | undefined;
  /** What cannot be shown of the sweep before jobs have run, as a sentence. */
  readonly unforeseeable?: string;
  /** The logger that records for each batch how long it took to compose its jobs. */
  readonly logger?: string;
  /** What the sweep found, after its last batch; undefined where there is nothing to say. */
  conclude?(): Conclusion | undefined;
}

/** What a sweep found. */
export interface Conclusion {
  /** The name of a file in the directory of the sweep, and what to write there. */
  readonly file: string;
  readonly content: MapNode;
  /** For the log. */
  readonly text: string;
  /** Whether failed jobs are no failure of the sweep. */
  readonly toleratesFailures: boolean;
}

/** What a sweeper is made from. */
export interface SweeperRequest {
  /** The keys of `hydra.sweeper` as plain data, interpolations resolved. */
  readonly settings: Readonly<Record<string, unknown>>;
  /**
   * What each override of the sweep may contribute to a job, in order: those of `hydra.sweeper.params` first, then those of the
   * command line. One that is no sweep has one choice.
   * @throws ConfigError `override.sweep_not_allowed` for an interval, and for more choices than can be enumerated
   */
  readonly dimensions: () => readonly (readonly JobOverrides[])[];
  /** The composition that the sweep starts from: its overrides still hold the sweeps. */
  readonly master: Composition;
  /** What `glob` selects from: the search path without what `hydra.searchpath` adds, as in Hydra. */
  readonly groups: Repository;
  /** The overrides of the task, in which the sweeps stand. */
  readonly overrides: readonly string[];
  /** The absolute path of `hydra.sweep.dir`. */
  readonly directory: string;
  readonly context: ResolveContext;
}

/** A sweeper that configs can choose, as data. */
export interface SweeperDefinition {
  /** The classes that `hydra.sweeper._target_` may name for it. */
  readonly targets: readonly string[];
  /** The keys of `hydra.sweeper` that it knows besides common ones; another is refused. By default any. */
  readonly settings?: readonly string[];
  /** @throws ConfigError for sweeps that it cannot do */
  readonly open: (request: SweeperRequest) => Sweeper;
}
