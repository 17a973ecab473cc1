/** What a run knows beside its raw files, of which schemas/run.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * The files that the collector's numbers were read from.
 */
export type Source =
  | {
      readonly kind: "recording";
      /**
       * Relative to the collector's folder; `.` is that folder.
       */
      readonly directory: string;
      /**
       * The program that was started: its process, and when it began and ended, in nanoseconds of CLOCK_MONOTONIC. Since 1.4.
       */
      readonly program?: {
        readonly pid: number;
        readonly start_ns: string;
        readonly end_ns: string;
      };
    }
  | {
      readonly kind: "nsys";
      /**
       * Relative to the collector's folder; `.` is that folder.
       */
      readonly directory: string;
      readonly reports: readonly string[];
    }
  | {
      readonly kind: "ncu";
      readonly passes: readonly {
        readonly name: string;
        readonly prefix: string;
        readonly labels:
          | null
          | readonly {
              readonly domain: string;
              readonly name: string;
              readonly kind: "push_pop" | "start_end";
            }[];
        /**
         * What the notes of the run say of its tables. Since 1.1.
         */
        readonly notes?: readonly string[];
        /**
         * Why not all results were read; absent where all were. Since 1.1.
         */
        readonly unread?: string;
      }[];
      /**
       * The only kernels that count; null: all. Since 1.1.
       */
      readonly top_kernels?: null | readonly string[];
      readonly recorded:
        | null
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
    }
  | {
      readonly kind: "files";
      /**
       * Relative to the collector's folder; `.` is that folder.
       */
      readonly directory: string;
      readonly names: readonly string[];
    }
  | {
      readonly kind: "repeats";
      readonly runs: readonly Source[];
      /**
       * What the workload printed in each of them, relative to the collector's folder; null where the file has not all of it. Since 1.1.
       */
      readonly outputs?: readonly (string | null)[];
    };

/**
 * What a run knows beside its raw files: `deep-profile report` makes its reports again from both. A minor version only adds; readers ignore what they do not know.
 */
export interface RunJsonOfDeepProfile {
  readonly contract: string;
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
  readonly config_lines: readonly {
    readonly key: string;
    readonly value: string;
    readonly origin: string;
  }[];
  readonly workload: {
    readonly label: string;
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly stdout: "forward" | "document";
    readonly device: string | null;
    readonly inputFiles: readonly string[];
  };
  readonly environment: {
    readonly hostname: string;
    readonly os: string;
    readonly cpu: string;
    readonly gpus: readonly {
      readonly name: string;
    }[];
    readonly hydraconf: string;
    /**
     * What the device can do at most, for the roofline. Since 1.5.
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
   * When its collectors began, in UTC. Since 1.2.
   */
  readonly started?: string;
  /**
   * When the last of them had ended. Since 1.2.
   */
  readonly ended?: string;
  readonly inputs: {
    readonly workload: string;
    readonly command: readonly string[];
    readonly cwd: string;
    readonly files: readonly unknown[];
  };
  readonly collectors: readonly {
    readonly collector: string;
    readonly tool_version: string | null;
    readonly source: Source;
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
      readonly stdoutFile: string;
      readonly stderrFile: string;
      readonly stderrTail: string;
      /**
       * Why its output is cut; absent where it is not. Since 1.1.
       */
      readonly unwritten?: string;
    };
    readonly notes: readonly string[];
    readonly problem: null | Problem;
  }[];
  readonly missing: readonly {
    readonly collector: string;
    readonly problem: Problem;
  }[];
}
export interface Problem {
  readonly code: string;
  readonly message: string;
}
