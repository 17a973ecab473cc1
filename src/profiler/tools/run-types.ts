/** What a run knows beside its raw files, of which schemas/run.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * The files that the collector's numbers were read from. Names and folders are relative to the collector's folder, with `/`; `.` is that folder.
 */
export type CollectionSource =
  | RecordingSource
  | NsysSource
  | NcuSource
  | FilesSource
  | RepeatsSource;
/**
 * The source of ranges that ncu does not know: another collector, or a run only for recording.
 */
export type RecordedSource =
  | {
      readonly kind: "collector";
      readonly name: string;
    }
  | {
      readonly kind: "recording";
      /**
       * Relative to the collector's folder; `.` is that folder.
       */
      readonly directory: string;
    };

/**
 * `run.json` of deep-profile, what a run knows beside its raw files: `deep-profile report` makes its reports again from both. A minor version only adds; readers ignore what they do not know.
 */
export interface RunDocument {
  /**
   * Version of this contract; the first one is 1.5.
   */
  readonly contract: string;
  /**
   * Of the resolved config.
   */
  readonly config_fingerprint: string;
  /**
   * Resolved; secrets are masked.
   */
  readonly config: {
    readonly pipeline: {
      readonly recorder: {
        readonly operation_domains: readonly string[];
        /**
         * One pattern, or several.
         */
        readonly include: readonly string[] | string | null;
        /**
         * One pattern, or several.
         */
        readonly exclude: readonly string[] | string | null;
      };
      readonly ncu: {
        readonly ncu_cli: {};
      };
      readonly report: {
        readonly aggregate: boolean;
        readonly html: boolean;
        readonly trace: boolean;
      };
      readonly static_analysis: {
        readonly enable: boolean;
      };
    };
    readonly runner: {
      readonly mode: "deep" | "light";
      readonly top_n_kernels: number;
    };
  };
  /**
   * The config as text, with the origin of each value.
   */
  readonly config_lines: readonly {
    readonly key: string;
    readonly value: string;
    readonly origin: string;
  }[];
  /**
   * Without its environment variables, which may contain secrets.
   */
  readonly workload: {
    readonly label: string;
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly stdout: "forward" | "document";
    readonly device: string | null;
    readonly inputFiles: readonly string[];
  };
  /**
   * The machine and the versions.
   */
  readonly environment: {
    readonly hostname: string;
    readonly os: string;
    readonly cpu: string;
    readonly gpus: readonly {
      readonly name: string;
    }[];
    readonly hydraconf: string;
    /**
     * What the device can do at most, for the roofline.
     */
    readonly peaks?: {
      /**
       * A multiply-add counts as two operations; null where it is not known.
       */
      readonly gflops_per_second: number | null;
      /**
       * Main memory, reads and writes together, in 10^9 bytes; null where it is not known.
       */
      readonly gbytes_per_second: number | null;
      readonly source: string;
    };
  };
  /**
   * When its collectors began, in UTC.
   */
  readonly started: string;
  /**
   * When the last of them had ended.
   */
  readonly ended: string;
  /**
   * The command line and its files.
   */
  readonly inputs: {
    readonly workload: string;
    readonly command: readonly string[];
    /**
     * Those that run the workload again, as typed; absent where its command line was given itself.
     */
    readonly overrides?: readonly string[];
    readonly cwd: string;
    readonly files: readonly {
      readonly path: string;
      readonly bytes: number;
      /**
       * Null: the file may be executed but not read.
       */
      readonly sha256: string | null;
    }[];
  };
  /**
   * In the order in which they ran.
   */
  readonly collectors: readonly SavedCollection[];
  /**
   * Collectors without results, and the reasons.
   */
  readonly missing: readonly SavedMissing[];
}
/**
 * What a collector recorded.
 */
export interface SavedCollection {
  readonly collector: string;
  /**
   * Null for our own recorder.
   */
  readonly tool_version: string | null;
  readonly source: CollectionSource;
  /**
   * How the program, or the tool that ran it, ended.
   */
  readonly outcome: {
    readonly argv: readonly string[];
    readonly exitCode: number | null;
    readonly signal: string | null;
    readonly startError: string | null;
    readonly interruptedBy: string | null;
    readonly durationMs: number;
    /**
     * Relative to the run directory, with `/`.
     */
    readonly stdoutFile: string;
    /**
     * Relative to the run directory, with `/`.
     */
    readonly stderrFile: string;
    readonly stderrTail: string;
    /**
     * Why its output is cut; absent where it is not.
     */
    readonly unwritten?: string;
  };
  readonly notes: readonly string[];
  readonly problem: null | SavedProblem;
}
/**
 * The recordings of a program's processes.
 */
export interface RecordingSource {
  readonly kind: "recording";
  /**
   * Relative to the collector's folder; `.` is that folder.
   */
  readonly directory: string;
  /**
   * The program that was started: its process, and when it began and ended, in nanoseconds of CLOCK_MONOTONIC.
   */
  readonly program?: {
    readonly pid: number;
    readonly start_ns: string;
    readonly end_ns: string;
  };
}
/**
 * The readable reports of nsys.
 */
export interface NsysSource {
  readonly kind: "nsys";
  /**
   * Relative to the collector's folder; `.` is that folder.
   */
  readonly directory: string;
  /**
   * Without extension, in the order of their captures.
   */
  readonly reports: readonly string[];
}
/**
 * The reports of ncu, and the recording that they are joined with.
 */
export interface NcuSource {
  readonly kind: "ncu";
  readonly passes: readonly NcuPassSource[];
  /**
   * The only kernels that count; null: all.
   */
  readonly top_kernels: null | readonly string[];
  /**
   * The source of the ranges that gave calls, wall times and nesting; null: none.
   */
  readonly recorded: null | RecordedSource;
}
/**
 * A run of the program under ncu.
 */
export interface NcuPassSource {
  /**
   * Of the report, without extension.
   */
  readonly name: string;
  /**
   * Of the names of its tables.
   */
  readonly prefix: string;
  /**
   * The regions that a range pass measured; null if only the tool knows.
   */
  readonly labels:
    | null
    | readonly {
        /**
         * Empty for NVTX's default domain.
         */
        readonly domain: string;
        /**
         * The name in reports.
         */
        readonly name: string;
        readonly kind: "push_pop" | "start_end";
        /**
         * If label rules changed the name: regular expressions that match the program's own names.
         */
        readonly written?: readonly string[];
      }[];
  /**
   * What the notes of the run say of its tables; a later reading may say otherwise.
   */
  readonly notes?: readonly string[];
  /**
   * Why not all results were read; absent where all were.
   */
  readonly unread?: string;
}
/**
 * Files of a tool whose names say all that it needs to read them.
 */
export interface FilesSource {
  readonly kind: "files";
  /**
   * Relative to the collector's folder; `.` is that folder.
   */
  readonly directory: string;
  readonly names: readonly string[];
}
/**
 * Runs of one workload, all of them measured.
 */
export interface RepeatsSource {
  readonly kind: "repeats";
  readonly runs: readonly CollectionSource[];
  /**
   * What the workload printed in each of them, relative to the collector's folder; null where the file has not all of it.
   */
  readonly outputs: readonly (string | null)[];
}
/**
 * An error, as data.
 */
export interface SavedProblem {
  readonly code: string;
  readonly message: string;
  readonly key?: string;
  readonly available?: readonly string[];
  readonly nearest?: string;
  readonly hint?: string;
}
/**
 * A collector without results.
 */
export interface SavedMissing {
  readonly collector: string;
  readonly problem: SavedProblem;
}
