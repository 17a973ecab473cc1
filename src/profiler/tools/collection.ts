/** The files that a collection was read from, as stored in `run.json`. */
import type { NvtxLabel } from "../analysis/labels.ts";

/** Names and folders are relative to the collector's folder, with `/`; `.` is that folder. */
export type CollectionSource =
  | RecordingSource
  | {
      readonly kind: "nsys";
      readonly directory: string;
      /** The readable reports, without extension, in the order of their captures. */
      readonly reports: readonly string[];
    }
  | NcuSource
  | FilesSource
  | RepeatsSource;

/** The recordings of a program's processes. */
export interface RecordingSource {
  readonly kind: "recording";
  readonly directory: string;
  /**
   * The started program: its process, and when it began and ended, as decimal nanoseconds of CLOCK_MONOTONIC. Added in
   * contract 1.4.
   */
  readonly program?: { readonly pid: number; readonly start_ns: string; readonly end_ns: string };
}

/** Files of a tool, whose names are sufficient for its `reread`. Added in contract 1.3. */
export interface FilesSource {
  readonly kind: "files";
  readonly directory: string;
  readonly names: readonly string[];
}

/** The reports of ncu, and the recording that they are joined with. */
export interface NcuSource {
  readonly kind: "ncu";
  readonly passes: readonly NcuPassSource[];
  /** The source of the ranges that gave calls, wall times and nesting; null: none. */
  readonly recorded: RecordedSource | null;
  /** The only kernels that count (`top_n_kernels`); null: all. Added in contract 1.1. */
  readonly top_kernels?: readonly string[] | null;
}

/** Runs of one workload, all of them measured. */
export interface RepeatsSource {
  readonly kind: "repeats";
  readonly runs: readonly CollectionSource[];
  /** The output of the workload in each run; null if its file is incomplete. Added in contract 1.1. */
  readonly outputs?: readonly (string | null)[];
}

/** A run of the program under ncu. */
export interface NcuPassSource {
  /** Name of the report, without extension. */
  readonly name: string;
  /** The prefix of the names of its tables. */
  readonly prefix: string;
  /** The regions that a range pass measured; null if only the tool knows. */
  readonly labels: readonly NvtxLabel[] | null;
  /** Notes of the run about its tables; a later reading may give other notes. Added in 1.1. */
  readonly notes?: readonly string[];
  /** Why not all results were read; absent if all were. Added in 1.1. */
  readonly unread?: string;
}

/** The source of ranges that ncu does not know. */
export type RecordedSource =
  | { readonly kind: "collector"; readonly name: string }
  /** A run only for recording. */
  | { readonly kind: "recording"; readonly directory: string };

/** The source with paths relative to a folder above. */
export function below(directory: string, source: CollectionSource): CollectionSource {
  if (source.kind === "repeats")
    return { ...source, runs: source.runs.map((run) => below(directory, run)) };
  // ncu's runs are not repeated.
  if (source.kind === "ncu") return source;
  const inside = source.directory === "." ? directory : `${directory}/${source.directory}`;
  return { ...source, directory: inside };
}

/** The run's data apart from its raw files: `profiler/run/saved-run.ts`. */
export const RUN_FILE = "run.json";
