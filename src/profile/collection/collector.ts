import type { ConfigError } from "../../values/errors.ts";
import type { ProcessOutcome, StopRequests } from "../machine/process.ts";
import type { RegionModel } from "../regions/index.ts";
import type { Timeline } from "../timeline/timeline.ts";
import type { Workload } from "../workload/workload.ts";
import type { CollectorName } from "./collector-names.ts";
import type { Progress } from "./progress.ts";
import type { CollectionSource } from "./source.ts";

/** Runs a workload and brings back what was seen. One object per tool, in a file of its own. */
export interface Collector {
  readonly name: CollectorName;
  /**
   * What goes wrong once something was measured is part of the collection.
   *
   * @throws ConfigError where nothing was measured and nothing can be
   */
  collect(workload: Workload, context: CollectContext): Promise<Collection>;
}

/** What a collector works with beside the workload. */
export interface CollectContext {
  /** The collector's folder in the run directory; exists. */
  readonly directory: string;
  readonly interrupt: StopRequests;
  readonly progress: Progress;
  /** Told a line at a time what goes on. */
  readonly say: (line: string) => void;
  /** What the collectors before this one brought back. */
  readonly earlier: readonly Collection[];
}

/** One of several runs of a workload. */
export interface MeasuredRun {
  readonly timeline: Timeline;
  /** What the workload printed in it; null where it did not come to its end, or the file has not all of it. */
  readonly stdoutFile: string | null;
}

/** Events that regions are made of, or regions where the tool gives nothing finer. */
export type Measured =
  | {
      readonly kind: "timeline";
      readonly timeline: Timeline;
      /** All runs that ended well, where the workload was run several times. */
      readonly repeats?: readonly MeasuredRun[];
    }
  | { readonly kind: "regions"; readonly model: RegionModel };

/**
 * Writes what belongs into the folders of single regions beside their reports: the folder
 * `regions`, and the names of the regions' folders in it by `regionKey`.
 */
export type WriteRegionFiles = (
  directory: string,
  names: ReadonlyMap<string, string>,
) => Promise<void>;

/** What was collected, also from a workload that failed: measured data is never thrown away. */
export interface Collection {
  readonly collector: CollectorName;
  readonly measured: Measured;
  /** The files that `measured` was read from, to read it again. */
  readonly source: CollectionSource;
  /** How the workload ended, or the tool that ran it. */
  readonly outcome: ProcessOutcome;
  /** What a reader of the report must know. */
  readonly notes: readonly string[];
  readonly writeRegionFiles?: WriteRegionFiles;
  /** Only a part of the run was looked at, as the config wanted: what is missing may be there all the same. */
  readonly partial?: true;
  /** Version of the tool; ours where absent. */
  readonly toolVersion?: string;
  /** Why this is not all that was asked for, with its remedy; the run counts as failed. */
  readonly problem?: ConfigError;
}
