/** An answer to a question about a run, of which schemas/query.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * What `deep-profile query --json` prints, an answer to one question about a run. Times are milliseconds. Texts of more than 1,000 characters are cut, and end in …. A minor version only adds.
 */
export type QueryAnswer = {
  /**
   * Version of this contract.
   */
  readonly contract: "hydraconf.query/1.3";
  /**
   * As the user named it.
   */
  readonly run: string;
  readonly collector: string;
  readonly scope: string;
  /**
   * The numbers are those of the median run of so many (repeats=N); absent for a single run, and for comparisons, whose notes tell.
   */
  readonly median_of_runs?: number;
  /**
   * How many items there are; absent where the answer is no list.
   */
  readonly total?: number;
  /**
   * How many of them the answer has.
   */
  readonly shown?: number;
  /**
   * Where the same question goes on (cursor); absent where the answer has the last item.
   */
  readonly next?: string;
} & (
  | {
      readonly question: "summary";
      readonly answer: Summary;
    }
  | {
      readonly question: "top";
      readonly answer: Top;
    }
  | {
      readonly question: "regions";
      readonly answer: Regions;
    }
  | {
      readonly question: "kernels";
      readonly answer: Kernels;
    }
  | {
      readonly question: "calls";
      readonly answer: Calls;
    }
  | {
      readonly question: "why";
      readonly answer: Why;
    }
  | {
      readonly question: "timeline";
      readonly answer: Timeline;
    }
  | {
      readonly question: "compare";
      readonly answer: Compare;
    }
);
/**
 * Null: no reason found.
 */
export type Reason = null | {
  /**
   * Name of the rule (docs/reports.md).
   */
  readonly rule: string;
  readonly title: string;
  /**
   * The numbers that show it.
   */
  readonly evidence: string;
  /**
   * What to do about it; null where that depends.
   */
  readonly advice: string | null;
  /**
   * Title of the section of Nsight Compute that the evidence comes from; null for other evidence.
   */
  readonly section: string | null;
};
/**
 * Null for a report of one run, and for one that does not have the region.
 */
export type RunsSeen = {
  /**
   * Runs that saw it.
   */
  readonly seen: number;
  /**
   * All runs.
   */
  readonly total: number;
} | null;

/**
 * Answer to `summary`.
 */
export interface Summary {
  /**
   * What takes the time, in a sentence or two.
   */
  readonly headline: string;
  /**
   * Why the run ended early; null where it succeeded.
   */
  readonly failure: string | null;
  /**
   * The profiled command line.
   */
  readonly command: readonly string[];
  readonly hostname: string;
  readonly device: string | null;
  /**
   * Names of the machine's GPUs.
   */
  readonly gpus: readonly string[];
  readonly generated_at: string;
  /**
   * `totals` of the region report.
   */
  readonly totals: {};
  /**
   * The run first; empty where only kernels were measured.
   *
   * Items: What a run, a process or a device did.
   */
  readonly runs: readonly {
    /**
     * `run`, or the scope.
     */
    readonly name: string;
    /**
     * What the parts add up to.
     */
    readonly ms: number;
    readonly wall_ms: number;
    readonly processes: number;
    /**
     * Largest first or not: in the order of the bar.
     *
     * Items: A part of the wall time.
     */
    readonly parts: readonly {
      readonly kind:
        | "kernels"
        | "both"
        | "copies"
        | "idle_inside"
        | "idle_outside"
        | "inside"
        | "outside";
      readonly ms: number;
    }[];
  }[];
  /**
   * What to do first.
   *
   * Items: What to do about a region.
   */
  readonly first: readonly {
    /**
     * Names from the outermost open range.
     */
    readonly path: readonly string[];
    /**
     * NVTX domain; empty for the default one.
     */
    readonly domain: string;
    readonly kind: "push_pop" | "start_end" | "outside";
    /**
     * The path with # instead of each number; absent if it has none. Since 1.2.
     */
    readonly family?: readonly string[];
    /**
     * The number of regions of a family; absent for a single region. Since 1.2.
     */
    readonly members?: number;
    readonly text: string;
  }[];
  /**
   * What would have to be measured to know more.
   *
   * Items: A command line that measures more.
   */
  readonly more: readonly {
    readonly why: string;
    readonly command: string;
  }[];
  /**
   * Of the report.
   */
  readonly notes: readonly string[];
}
/**
 * Answer to `top`.
 */
export interface Top {
  /**
   * Most wall time of their own.
   */
  readonly by_wall: readonly Ranked[];
  /**
   * Whose own kernels ran longest.
   */
  readonly by_gpu: readonly Ranked[];
}
/**
 * A region with much time of its own.
 */
export interface Ranked {
  /**
   * Names from the outermost open range.
   */
  readonly path: readonly string[];
  /**
   * NVTX domain; empty for the default one.
   */
  readonly domain: string;
  readonly kind: "push_pop" | "start_end" | "outside";
  /**
   * The path with # instead of each number; absent if it has none. Since 1.2.
   */
  readonly family?: readonly string[];
  /**
   * The number of regions of a family; absent for a single region. Since 1.2.
   */
  readonly members?: number;
  readonly ms: number;
  /**
   * What `ms` is of `share_of`; null where it is more than the whole (`at_once`), or the whole is unknown.
   */
  readonly ms_share_pct: number | null;
  /**
   * How many threads, calls or kernels were busy with it on average, where `ms` is more than the whole. Since 1.2.
   */
  readonly at_once?: {
    readonly average: number;
    readonly what: "threads" | "calls" | "kernels";
  };
  /**
   * The member that takes at least half of the family's time, and three times the mean of the others; absent if none does. Since 1.2.
   */
  readonly outlier?: {
    /**
     * Names from the outermost open range.
     */
    readonly path: readonly string[];
    /**
     * NVTX domain; empty for the default one.
     */
    readonly domain: string;
    readonly kind: "push_pop" | "start_end" | "outside";
    /**
     * The path with # instead of each number.
     */
    readonly family?: readonly string[];
    readonly ms: number;
  };
  readonly share_of: "run" | "kernel time" | "GPU time of ranges";
  readonly reason: Reason;
}
/**
 * Answer to `regions`.
 */
export interface Regions {
  /**
   * What shares are of.
   */
  readonly whole_ms: number | null;
  /**
   * In the order asked for.
   *
   * Items: Times in milliseconds; null: not measured.
   */
  readonly regions: readonly {
    /**
     * Names from the outermost open range.
     */
    readonly path: readonly string[];
    /**
     * NVTX domain; empty for the default one.
     */
    readonly domain: string;
    readonly kind: "push_pop" | "start_end" | "outside";
    /**
     * The path with # instead of each number; absent if it has none. Since 1.2.
     */
    readonly family?: readonly string[];
    /**
     * The number of regions of a family; absent for a single region. Since 1.2.
     */
    readonly members?: number;
    readonly invocations: number;
    readonly wall_ms: number | null;
    readonly wall_exclusive_ms: number | null;
    readonly cpu_ms: number | null;
    /**
     * Of its threads in user space.
     */
    readonly instructions: number | null;
    /**
     * Of kernels, or CPU operations.
     */
    readonly total_ms: number | null;
    readonly exclusive_ms: number | null;
    readonly kernel_count: number;
    readonly gpu_busy_ms: number | null;
    /**
     * Its time, inner regions included, in `whole_ms`: `Share %` of every report.
     */
    readonly share_pct: number | null;
    /**
     * The part of it that no inner region has.
     */
    readonly exclusive_share_pct: number | null;
    /**
     * Those that were asked for.
     */
    readonly metrics?: {
      /**
       * In the unit it names.
       */
      readonly [k: string]: {
        readonly value: number | null;
        readonly unit: string;
      };
    };
  }[];
}
/**
 * Answer to `kernels`.
 */
export interface Kernels {
  readonly whole_ms: number | null;
  /**
   * Longest first.
   *
   * Items: All launches of one kernel.
   */
  readonly kernels: readonly {
    readonly kernel_name: string;
    readonly kind: "gpu_kernel" | "cpu_operation";
    readonly device: string;
    readonly calls: number;
    /**
     * Null where the time of no call is known.
     */
    readonly total_ms: number | null;
    /**
     * Of a call; null with the total.
     */
    readonly mean_ms: number | null;
    /**
     * Of the time of all kernels and operations.
     */
    readonly share_pct: number | null;
    /**
     * Label of the region with most of its time.
     */
    readonly mostly_in: string;
    /**
     * Hardware counters, as in the region report; null: not measured.
     */
    readonly hardware: {} | null;
  }[];
}
/**
 * Answer to `calls`. Since 1.2.
 */
export interface Calls {
  /**
   * Longest first.
   *
   * Items: All calls of one function of CUDA or of the system, in the own time of regions (without regions inside).
   */
  readonly calls: readonly {
    readonly api: "cuda" | "os";
    readonly name: string;
    readonly calls: number;
    readonly total_ms: number;
    readonly mean_ms: number;
    readonly min_ms: number;
    readonly max_ms: number;
    /**
     * Of the time of all calls of its API; null if that is 0.
     */
    readonly share_pct: number | null;
    /**
     * Those with most of its time, at most 5, longest first.
     *
     * Items: A region or family that it was called in.
     */
    readonly regions: readonly {
      /**
       * Names from the outermost open range.
       */
      readonly path: readonly string[];
      /**
       * NVTX domain; empty for the default one.
       */
      readonly domain: string;
      readonly kind: "push_pop" | "start_end" | "outside";
      /**
       * The path with # instead of each number; absent if it has none.
       */
      readonly family?: readonly string[];
      /**
       * How many regions a family has; absent for a region.
       */
      readonly members?: number;
      readonly calls: number;
      readonly total_ms: number;
      readonly mean_ms: number;
      readonly min_ms: number;
      readonly max_ms: number;
    }[];
  }[];
}
/**
 * Answer to `why`.
 */
export interface Why {
  /**
   * All that the name means.
   *
   * Items: A region of that name.
   */
  readonly regions: readonly {
    /**
     * Names from the outermost open range.
     */
    readonly path: readonly string[];
    /**
     * NVTX domain; empty for the default one.
     */
    readonly domain: string;
    readonly kind: "push_pop" | "start_end" | "outside";
    /**
     * The path with # instead of each number; absent if it has none. Since 1.2.
     */
    readonly family?: readonly string[];
    /**
     * The number of regions of a family; absent for a single region. Since 1.2.
     */
    readonly members?: number;
    /**
     * Its time, inner regions included, in the whole of the report: `Share %` of every report.
     */
    readonly share_pct: number | null;
    /**
     * The part of it that no inner region has.
     */
    readonly exclusive_share_pct: number | null;
    readonly wall_exclusive_ms: number | null;
    readonly work_exclusive_ms: number | null;
    readonly wall_reason: Reason;
    /**
     * Its push/pop ranges by the thread that opened them, as in reports; absent where one thread opened all.
     */
    readonly threads?: {
      /**
       * The number of threads.
       */
      readonly count: number;
      /**
       * At most 16, those with the most time, the longest first; always with the one that has the longest median call.
       *
       * Items: Times in milliseconds.
       */
      readonly listed: readonly {
        readonly process_id: number;
        readonly thread_id: number;
        /**
         * As the program names it.
         */
        readonly name?: string;
        readonly invocations: number;
        readonly wall_ms: number;
        /**
         * Its processor time meanwhile; absent if it is not known.
         */
        readonly cpu_ms?: number;
        /**
         * Of single calls.
         */
        readonly invocation_wall_ms: {
          readonly min: number;
          readonly median: number;
          readonly max: number;
        };
      }[];
      /**
       * The others together; absent where all are listed.
       */
      readonly others?: {
        readonly count: number;
        readonly invocations: number;
        readonly wall_ms: number;
      };
      /**
       * Over all threads.
       */
      readonly median_wall_ms: number;
      /**
       * Over all threads, of the median call of each.
       */
      readonly median_invocation_ms: number;
    };
    readonly gpu_reason: Reason;
  }[];
}
/**
 * Answer to `timeline`.
 */
export interface Timeline {
  readonly run_ms: number;
  readonly from_ms: number;
  readonly to_ms: number;
  /**
   * In order of their starts.
   *
   * Items: Milliseconds since the start of the run.
   */
  readonly events: readonly {
    /**
     * wait: of the host for a GPU. cuda_call and os_call: calls of CUDA and of the system's libraries, from nsys. kernel, memcpy and memset: what a GPU did. counter: what a counter was between the two times, once for each.
     */
    readonly kind:
      | "range"
      | "mark"
      | "wait"
      | "cuda_call"
      | "os_call"
      | "kernel"
      | "memcpy"
      | "memset"
      | "counter";
    readonly name: string;
    /**
     * The thread, the stream, or where a counter belongs to: `process 4711, thread 4712`, `cuda:0, stream 7`, `process 4711, cuda:0`.
     */
    readonly row: string;
    readonly start_ms: number;
    /**
     * Of an event that never ended, the end of its process.
     */
    readonly end_ms: number;
    /**
     * Only of a counter; the mean is weighted by time where a value holds until the next.
     */
    readonly counter?: {
      readonly unit: string;
      readonly samples: number;
      readonly min: number;
      readonly mean: number;
      readonly max: number;
    };
  }[];
}
/**
 * Answer to `compare`.
 */
export interface Compare {
  /**
   * What the user calls the two.
   */
  readonly names: {
    readonly a: string;
    readonly b: string;
  };
  /**
   * The result as a whole.
   */
  readonly headline: string;
  /**
   * The time that is compared.
   */
  readonly main_time: "total_ms" | "wall_ms" | "cpu_ms";
  readonly totals: Changes;
  /**
   * Those that contributed most first.
   *
   * Items: A region that differs.
   */
  readonly regions: readonly {
    /**
     * Names from the outermost open range.
     */
    readonly path: readonly string[];
    /**
     * NVTX domain; empty for the default one.
     */
    readonly domain: string;
    readonly kind: "push_pop" | "start_end" | "outside";
    /**
     * The path with # instead of each number; absent if it has none. Since 1.2.
     */
    readonly family?: readonly string[];
    readonly presence: string;
    /**
     * In how many of its runs each report saw the region, of which its times are the means; absent where all runs saw it.
     */
    readonly runs?: {
      readonly a: RunsSeen;
      readonly b: RunsSeen;
    };
    /**
     * Its difference without the regions inside it; of a region that only one run has, its whole own time. Null if it is not compared.
     */
    readonly contributed_ms: number | null;
    readonly changes: Changes;
  }[];
  /**
   * Largest difference first.
   *
   * Items: A kernel whose time differs.
   */
  readonly kernels: readonly {
    readonly kernel_name: string;
    readonly presence: string;
    readonly changes: Changes;
  }[];
  /**
   * Null where the configurations are not there.
   */
  readonly config:
    | readonly {
        readonly key: string;
        readonly a: string | null;
        readonly b: string | null;
      }[]
    | null;
  /**
   * Why the two may not be comparable.
   */
  readonly notes: readonly string[];
}
/**
 * By the names of `comparison.schema.json`.
 */
export interface Changes {
  readonly [k: string]: Change;
}
/**
 * A number in both.
 */
export interface Change {
  readonly a: number | null;
  readonly b: number | null;
  /**
   * b - a; null unless both were measured.
   */
  readonly delta: number | null;
  readonly verdict: "more" | "less" | "same" | "unclear" | "added" | "removed" | "left_out";
}
