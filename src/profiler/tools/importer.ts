/** What an importer is: a reader of one format of files. */
import type { WithTool } from "../machine/stop-signals.ts";
import type { NcuResult, NcuTables } from "../model/counters.ts";
import type { RecordedMachine, Timeline } from "../model/timeline.ts";
import type { NumberFormat } from "./ncu/csv/number-format.ts";

/** A reader of one format for `deep-profile import`. */
export interface Importer {
  /** Decides by content; by name only if the content is ambiguous. */
  readonly matches: (source: ImportSource) => boolean;
  /** @throws ConfigError if the file is damaged, or a required tool is absent */
  readonly read: (source: ImportSource, options: ReadOptions) => Promise<Imported>;
}

/** A given file or directory, with what is needed to recognise its format. */
export interface ImportSource {
  /** As the user wrote it. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly isDirectory: boolean;
  /** Names in a directory; empty for a file. */
  readonly entries: readonly string[];
  /** The first bytes of a file, enough for magic numbers; empty for a directory. */
  readonly head: Uint8Array;
  readonly bytes: number;
  /** The run of which this is a repeat: all repeats together make one report; null for others. */
  readonly repeatOf: string | null;
}

/** How the files of an import are read. */
export interface ReadOptions {
  /** How to read `.ncu-rep` files: with ncu, with our own reader, or with ncu if it is installed. */
  readonly reader: "auto" | "ncu" | "own";
  /** How a CSV writes numbers; null: determined from the file. */
  readonly numberFormat: NumberFormat | null;
  /** Whether to include push/pop ranges of other threads, which only our own reader has. */
  readonly allThreads: boolean;
  /** An existing directory for files that tools add to the result, e.g. CSVs. */
  readonly directory: string;
  /** The prefix of the names of those files; empty if no other file of the tool goes there. */
  readonly prefix: string;
  readonly withTool: WithTool;
  /** Receives lines about the progress. */
  readonly say: (line: string) => void;
}

/** The contents of a file. */
export type Imported =
  | {
      readonly kind: "timeline";
      readonly timeline: Timeline;
      /** The version of the recording tool; null if the file does not have it. */
      readonly toolVersion: string | null;
      /** The recorded machine; null if the format does not have it. */
      readonly machine: RecordedMachine | null;
      /** The file is truncated or damaged: the timeline has what could be read, and a note says so. */
      readonly isIncomplete?: true;
    }
  | { readonly kind: "ncu"; readonly source: NcuResults };

/** Results of ncu, read again for each use because they may be too many to keep. */
export interface NcuResults {
  readonly toolVersion: string | null;
  /** Passes each result once, and returns the tables at the end. */
  readonly stream: (onResult: (result: NcuResult) => void) => Promise<NcuTables>;
}
