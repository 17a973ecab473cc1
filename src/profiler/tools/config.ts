/** The types of the profiler's config. */
import type { LabelRules } from "../analysis/labels.ts";

/**
 * The composed and validated configuration as the profiler reads it: a plain object, already checked against
 * `schemas/config.schema.json`. Only keys that are read are listed.
 */
export interface ProfileConfig {
  /** `auto`, `cpu` or `cuda:N`. */
  readonly device: string;
  readonly model: ModelConfig;
  readonly infer: InferConfig;
  readonly workload: WorkloadConfig;
  /** Rules that unify labels, for all collectors. Absent in older runs, and in trees without such rules. */
  readonly labels?: LabelRules;
  readonly pipeline: PipelineConfig;
  /** Runs of the workload under each collector that records times. */
  readonly repeats: number;
  /** Runs before them whose results are discarded; only if `repeats` is more than 1. */
  readonly warmup_runs: number;
  readonly runner: {
    /** `deep` writes every artifact, `light` the region reports only. */
    readonly mode: "deep" | "light";
    readonly top_n_kernels: number;
    readonly artifacts: { readonly stage2_dir: string };
  };
}

/** `model`: the shape of the built-in model. */
export interface ModelConfig {
  readonly name: string;
  readonly in_channels: number;
  readonly base_channels: number;
  readonly num_blocks: number;
  readonly num_classes: number;
  readonly weights: string | null;
}

/** `infer`: how the built-in model runs. */
export interface InferConfig {
  readonly batch_size: number;
  readonly image_size: number;
  readonly batch_norm: "running" | "batch";
  readonly warmup: number;
  readonly iterations: number;
  readonly seed: number;
  readonly input: string | null;
  readonly output: string | null;
  readonly dtype: "float32" | "float16" | "bfloat16";
  readonly tf32: boolean;
  readonly gpu_library: "auto" | "cudnn" | "cuda";
  readonly cuda_graph: boolean;
}

/** `workload`: the program to profile. */
export type WorkloadConfig =
  | { readonly kind: "shallow_resnet"; readonly program: "forward" | "regions" }
  | { readonly kind: "command"; readonly command: readonly string[] }
  | {
      readonly kind: "python_module";
      readonly module: string;
      readonly overrides: readonly string[];
      readonly run_dir: string;
      readonly python: string;
    };

/** `pipeline`: the collectors to run, and the reports to write. */
export interface PipelineConfig {
  readonly recorder: {
    readonly enable: boolean;
    readonly gpu: "auto" | "on" | "off";
    readonly cpu: "time" | "counts" | "off";
    readonly operation_domains: readonly string[];
    readonly include: string | readonly string[] | null;
    readonly exclude: string | readonly string[] | null;
  };
  readonly nsys: NsysSettings;
  readonly ncu: NcuConfig;
  readonly static_analysis: { readonly enable: boolean };
  readonly report: {
    readonly aggregate: boolean;
    readonly html: boolean;
    readonly trace: boolean;
  };
}

// `pipeline.ncu` as the driver reads it, already checked against `schemas/config.schema.json`.

/** What ncu replays to measure it: a kernel or range in place, or the whole program. */
export type ReplayMode = "kernel" | "application" | "range" | "app-range";

export const isRangeMode = (mode: ReplayMode): boolean => mode === "range" || mode === "app-range";

/** One name, several, or none. */
export type Names = string | readonly string[] | null;

/** `pipeline.ncu`; keys below `ncu_cli` are options of ncu. */
export interface NcuConfig {
  readonly enable: boolean;
  /** Whether NVTX ranges limit what is profiled at all. */
  readonly gating_nvtx: boolean;
  /** Whether ncu's own filter selects regions; false: they are selected in the reports, after everything ran. */
  readonly native_nvtx: boolean;
  /** Whether app-range replay measures ranges that cannot be captured. */
  readonly fallback: boolean;
  readonly require_match: boolean;
  /** Only this many kernels, by GPU time in a recording; null, and absent in runs of older versions: all. */
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
  /** Our addition: ncu has no option to exclude kernels. */
  readonly kernel_exclude: readonly string[];
  readonly launch_skip: number | null;
  readonly launch_count: number | null;
  readonly clock_control: string | null;
  readonly cache_control: string | null;
  readonly force_overwrite: boolean;
  readonly export: { readonly csv: boolean };
  readonly extra_args: readonly string[];
}

/** The single metrics: ncu itself takes a text with commas. */
export const metricsOf = ({ metrics }: Pick<NcuCliConfig, "metrics">): readonly string[] =>
  namesOf(metrics)
    .flatMap((names) => names.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** One name, a list of names, or none, as a list. */
export const namesOf = (names: Names): readonly string[] =>
  names === null ? [] : typeof names === "string" ? [names] : names;

/** `pipeline.nsys` as the collector reads it; keys are flags of `nsys profile`. */
export interface NsysSettings {
  readonly enable: boolean;
  /** False records the whole run, whatever `capture_range` says. */
  readonly gating_nvtx: boolean;
  readonly trace: string;
  readonly sample: string;
  readonly cuda_graph_trace: string;
  readonly capture_range: "none" | "nvtx" | "cudaProfilerApi";
  readonly capture_range_end: string | null;
  readonly nvtx_capture: string | null;
  readonly extra_args: readonly string[];
}
