import type { WithTool } from "../machine/interrupt.ts";
import type { NcuResult, NcuTables } from "../model/counters.ts";
import type { RecordedMachine, Timeline } from "../model/timeline.ts";

/** The reader of one format that `deep-profile import` reads. */
export interface Importer {
  /** Decided by content; the name counts only where content cannot tell. */
  readonly matches: (source: ImportSource) => boolean;
  /** @throws ConfigError when the file is damaged, or a tool is needed that is not there */
  readonly read: (source: ImportSource, options: ReadOptions) => Promise<Imported>;
}

/** A file or directory that was given, as much as it takes to know what it is. */
export interface ImportSource {
  /** As the user wrote it. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly isDirectory: boolean;
  /** Names in a directory; empty for a file. */
  readonly entries: readonly string[];
  /** The first bytes of a file, as many as magic numbers need; empty for a directory. */
  readonly head: Uint8Array;
  readonly bytes: number;
  /** The run whose repeats this is one of: together they make one report; null for any other. */
  readonly repeatOf: string | null;
}

/** How the files of an import are read. */
export interface ReadOptions {
  /** How `.ncu-rep` files are read: by ncu, by our own reader, or by ncu where it is installed. */
  readonly reader: "auto" | "ncu" | "own";
  /** Locale of the ncu that printed a CSV; found out from the file where null. */
  readonly locale: "C" | "en" | "de" | null;
  /** Whether push/pop ranges of other threads matter: only our own reader has them. */
  readonly allThreads: boolean;
  /** Where tools may leave files that belong to the result, e.g. CSVs; exists. */
  readonly directory: string;
  /** Begins the names of those files; empty where no other file of the tool goes there. */
  readonly prefix: string;
  readonly withTool: WithTool;
  /** A line at a time, what goes on. */
  readonly say: (line: string) => void;
}

/** What was in a file. */
export type Imported =
  | {
      readonly kind: "timeline";
      readonly timeline: Timeline;
      /** Of the tool that recorded; null where the file does not say. */
      readonly toolVersion: string | null;
      /** What was recorded; null where the format does not tell. */
      readonly machine: RecordedMachine | null;
    }
  | { readonly kind: "ncu"; readonly source: NcuResults };

/** Results of ncu, which may be too many to keep: read as often as they are needed. */
export interface NcuResults {
  readonly toolVersion: string | null;
  /** Gives each result once, and at the end what was read of all. */
  readonly stream: (onResult: (result: NcuResult) => void) => Promise<NcuTables>;
}
