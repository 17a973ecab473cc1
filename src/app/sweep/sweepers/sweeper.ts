/** What a sweeper is: how it is declared, what it proposes, what it is told. */
import type { Composition, Repository } from "../../../engine/compose/index.ts";
import type { ConfigError } from "../../../engine/values/errors.ts";
import type { MapNode } from "../../../engine/values/node.ts";
import type { ResolveContext } from "../../../engine/values/resolution/context.ts";
import type { Continuation } from "../../job/checkpoint.ts";
import type { JobResult } from "../../job/job.ts";
import type { InsteadOf } from "../../launch/launcher.ts";
import type { Direction } from "./objective.ts";
import type { OwnPruning, PruningRule } from "./pruner.ts";

/** The overrides of one job of a sweep, as they would be typed. */
export type JobOverrides = readonly string[];

/**
 * Proposes the jobs of a sweep, batch by batch. It receives the results of a batch before the next is requested, so
 * that it may learn from them.
 */
export interface Sweeper {
  /** The next jobs; undefined when the sweep is over. */
  ask(): readonly JobOverrides[] | undefined;
  /** Whether further jobs may follow the last batch, as far as is known before that batch has run. */
  mayAskForMore(): boolean;
  /** Receives the results of the last batch, in the same order; undefined for a job without an end. */
  tell(results: readonly (JobResult | undefined)[]): void;
  /**
   * Set by a sweeper that decides itself whether failed jobs end the sweep: then `ask` ends it. Otherwise no batch
   * follows one with a failed job.
   */
  readonly judgesFailures?: true;
  /**
   * Why a completed job counts as failed: its return value is of no use. Undefined for others; absent if the sweeper
   * does not read results.
   */
  problemOf?(result: JobResult): string | undefined;
  /** Which jobs are to end early; absent if none are. */
  readonly pruning?: PruningRule | OwnPruning;
  /**
   * The earlier job that a job of the last batch continues; undefined for one that begins anew. Absent if all do.
   * @param job as `ask` gave it, the same array
   */
  continuationOf?(job: JobOverrides): Continuation | undefined;
  /**
   * Checks, before the first job of a sweep, that jobs of its first batch can be continued: not all of them run to find that none can.
   *
   * @param batch what `ask` gave
   * @param problemOf why a job cannot be composed; undefined if it can
   * @throws ConfigError if no later job could be composed
   */
  checkContinuation?(
    batch: readonly JobOverrides[],
    problemOf: (job: JobOverrides) => ConfigError | undefined,
  ): void;
  /** A sentence about the part of the sweep that cannot be shown before jobs have run. */
  readonly unforeseeable?: string;
  /** The logger that records how long it took to compose each batch. */
  readonly logger?: string;
  /** The conclusion of the sweep, after its last batch; undefined if there is none. */
  conclude?(): Conclusion | undefined;
  /** What there is to log since the last call. It is asked after each of the other calls. */
  takeMessages?(): readonly SweeperMessage[];
  /** Ends what the sweeper has started. */
  close?(): void;
}

/** A message of a sweeper for the log. */
export interface SweeperMessage {
  /** The name of its logger, which log configs may use. */
  readonly logger: string;
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

/** The conclusion of a sweep. */
export interface Conclusion {
  /** The name of a file in the directory of the sweep, and what to write there. */
  readonly file: string;
  readonly content: MapNode;
  /** For the log; absent if the sweeper has logged it itself. */
  readonly text?: string;
  /** The best value, for comparison with that of an earlier file; absent where there is not a single one. */
  readonly best?: { readonly value: number; readonly direction: Direction };
  /** Whether failed jobs do not make the sweep fail. */
  readonly toleratesFailures: boolean;
}

/** The input of a sweeper. */
export interface SweeperRequest {
  /** The keys of `hydra.sweeper` as plain data, interpolations resolved. */
  readonly settings: Readonly<Record<string, unknown>>;
  /**
   * The values that each override of the sweep may contribute to a job, in order: those of `hydra.sweeper.params`
   * first, then those of the command line. An ordinary override has a single value.
   * @throws ConfigError `override.sweep_not_allowed` for an interval, and for more values than can be enumerated
   */
  readonly dimensions: () => readonly (readonly JobOverrides[])[];
  /** The composition of the sweep itself: its overrides still contain the sweep overrides. */
  readonly master: Composition;
  /** The options that `glob` selects from: the search path without additions of `hydra.searchpath`, as in Hydra. */
  readonly groups: Repository;
  /** The overrides of the task, including the sweep overrides. */
  readonly overrides: readonly string[];
  /** The absolute path of `hydra.sweep.dir`. */
  readonly directory: string;
  readonly context: ResolveContext;
  /**
   * The overrides of jobs that were completed when the space of the sweep changed: a search counts those that lie in its space among its
   * trials, and begins by asking for them. Absent if it never changed.
   */
  readonly earlier?: readonly JobOverrides[];
  /** Whether the jobs are only shown: then the sweeper changes nothing. */
  readonly isPlan?: boolean;
  /** Where the project's Python runs. Absent for a sweeper that cannot use it. */
  readonly project?: SweepProject;
}

/** The project in which a sweep runs. */
export interface SweepProject {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The Python interpreter that a settings file names. */
  readonly python?: ProjectPython;
}

/** A Python interpreter that a settings file names. */
export interface ProjectPython {
  /** An absolute path, or a name on `PATH`. */
  readonly text: string;
  /** Why it is not run: the user has not trusted the project. */
  readonly refusal?: ConfigError;
}

/** A sweeper that configs can choose, as data. */
export interface SweeperDefinition {
  /** The classes that `hydra.sweeper._target_` may name for it. */
  readonly targets: readonly string[];
  /** The keys of `hydra.sweeper` that it knows in addition to common ones; others are refused. By default any. */
  readonly settings?: readonly string[];
  /** The alternative to an unknown setting; without one, the error is that for any unknown name. */
  readonly insteadOf?: (setting: string) => InsteadOf | undefined;
  /** @throws ConfigError for sweep overrides that it does not support */
  readonly open: (request: SweeperRequest) => Sweeper;
}
