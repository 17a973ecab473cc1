import type { LabelRules } from "../labels/label-rules.ts";
import type { NcuConfig } from "./ncu-config.ts";
import type { NsysSettings } from "./nsys-settings.ts";

/**
 * The composed and validated configuration as the profiler reads it: a plain object, checked
 * against `schemas/config.schema.json` before it arrives here. Only keys that are read are listed.
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

/** `workload`: what is profiled. */
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

/** `pipeline`: which collectors run, and what is reported. */
export interface PipelineConfig {
  readonly recorder: {
    readonly enable: boolean;
    readonly gpu: "auto" | "off";
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
