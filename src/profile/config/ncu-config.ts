/** `pipeline.ncu` as the driver reads it: checked against `schemas/config.schema.json` before. */

/** What ncu repeats to measure it: a kernel or range in place, or the program as a whole. */
export type ReplayMode = "kernel" | "application" | "range" | "app-range";

export const isRangeMode = (mode: ReplayMode): boolean => mode === "range" || mode === "app-range";

/** One name, several, or none. */
export type Names = string | readonly string[] | null;

/** `pipeline.ncu`; keys below `ncu_cli` are options of ncu. */
export interface NcuConfig {
  readonly enable: boolean;
  /** What is profiled depends on NVTX ranges at all. */
  readonly gating_nvtx: boolean;
  /** Regions are selected by ncu's own filter; false: in the reports, after everything ran. */
  readonly native_nvtx: boolean;
  /** Ranges that cannot be captured are measured by app-range replay. */
  readonly fallback: boolean;
  readonly require_match: boolean;
  /** Only so many kernels, by GPU time in a recording; null, and absent in runs of older versions: all. */
  readonly top_n_kernels?: number | null;
  /** Minutes after which one pass of ncu is stopped; null: never. */
  readonly timeout_min: number | null;
  readonly ncu_cli: NcuCliConfig;
}

/** ncu's own options, one to one; null leaves an option to ncu. */
export interface NcuCliConfig {
  readonly target_processes: "all" | "application-only" | null;
  readonly replay_mode: ReplayMode;
  readonly nvtx: { readonly include: Names; readonly exclude: Names };
  readonly set: Names;
  readonly sections: Names;
  readonly metrics: Names;
  readonly kernel_name: string | null;
  readonly kernel_name_base: "function" | "demangled" | "mangled" | null;
  /** Ours: ncu has no option to leave kernels out. */
  readonly kernel_exclude: readonly string[];
  readonly launch_skip: number | null;
  readonly launch_count: number | null;
  readonly clock_control: string | null;
  readonly cache_control: string | null;
  readonly force_overwrite: boolean;
  readonly export: { readonly csv: boolean };
  readonly extra_args: readonly string[];
}

/** Metrics one by one: ncu's own way is one text with commas between them. */
export const metricsOf = ({ metrics }: Pick<NcuCliConfig, "metrics">): readonly string[] =>
  namesOf(metrics)
    .flatMap((names) => names.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** One name, a list of names, or none, as a list. */
export const namesOf = (names: Names): readonly string[] =>
  names === null ? [] : typeof names === "string" ? [names] : names;
