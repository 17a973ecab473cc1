/** The files that a collection was read from, as `run.json` keeps them. */
import type { NvtxLabel } from "../analysis/labels.ts";

/** Names and folders are relative to the collector's folder, with `/`; `.` is that folder. */
export type CollectionSource =
  | RecordingSource
  | {
      readonly kind: "nsys";
      readonly directory: string;
      /** Of the reports that could be read, without extension, in the order of their captures. */
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
   * The program that was started: its process, and when it began and ended, as decimal nanoseconds of
   * CLOCK_MONOTONIC. Added in contract 1.4.
   */
  readonly program?: { readonly pid: number; readonly start_ns: string; readonly end_ns: string };
}

/** Files of a tool whose names say all that its `reread` needs. Added in contract 1.3. */
export interface FilesSource {
  readonly kind: "files";
  readonly directory: string;
  readonly names: readonly string[];
}

/** The reports of ncu, and the recording they are joined with. */
export interface NcuSource {
  readonly kind: "ncu";
  readonly passes: readonly NcuPassSource[];
  /** Whose ranges gave calls, wall times and the order of nesting; null: none's. */
  readonly recorded: RecordedSource | null;
  /** The only kernels that count (`top_n_kernels`); null: all. Added in contract 1.1. */
  readonly top_kernels?: readonly string[] | null;
}

/** Runs of one workload, all of them measured. */
export interface RepeatsSource {
  readonly kind: "repeats";
  readonly runs: readonly CollectionSource[];
  /** What the workload printed in each of them; null where its file has not all of it. Added in contract 1.1. */
  readonly outputs?: readonly (string | null)[];
}

/** A run of the program under ncu. */
export interface NcuPassSource {
  /** Name of the report, without extension. */
  readonly name: string;
  /** What the names of its tables begin with. */
  readonly prefix: string;
  /** The regions that a range pass measured; null where only the tool knows. */
  readonly labels: readonly NvtxLabel[] | null;
  /** What the notes of the run say of its tables; read again, there may be other things to say. Added in 1.1. */
  readonly notes?: readonly string[];
  /** Why not all results were read, in words; absent where all were. Added in 1.1. */
  readonly unread?: string;
}

/** Where ranges that ncu does not know came from. */
export type RecordedSource =
  | { readonly kind: "collector"; readonly name: string }
  /** A run for this purpose alone. */
  | { readonly kind: "recording"; readonly directory: string };

/** The same files as seen from a folder above. */
export function below(directory: string, source: CollectionSource): CollectionSource {
  if (source.kind === "repeats")
    return { ...source, runs: source.runs.map((run) => below(directory, run)) };
  // ncu's runs are not repeated.
  if (source.kind === "ncu") return source;
  const inside = source.directory === "." ? directory : `${directory}/${source.directory}`;
  return { ...source, directory: inside };
}

/** What a run knows beside its raw files: `profile/run/saved-run.ts`. */
export const RUN_FILE = "run.json";
