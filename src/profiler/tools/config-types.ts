/** The composed configuration, of which schemas/config.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

/**
 * What is profiled.
 */
export type Workload = WorkloadShallowResnet | WorkloadCommand | WorkloadPythonModule;
/**
 * NVTX domains whose ranges are operations, never regions.
 */
export type Patterns = string[];
/**
 * Labels of the regions to report; * matches any characters, ? one.
 */
export type Names = string[] | string | null;
/**
 * Labels of regions to leave out.
 */
export type Names1 = string[] | string | null;
/**
 * NVTX ranges to profile: labels, globs (* matches any characters), or ncu's own expressions.
 */
export type Names2 = string[] | string | null;
/**
 * NVTX ranges to leave out, by label.
 */
export type Names3 = string[] | string | null;
/**
 * --set: section sets.
 */
export type Names4 = string[] | string | null;
/**
 * --section: sections in addition to the set.
 */
export type Names5 = string[] | string | null;
/**
 * --metrics: metrics in addition to the sections.
 */
export type Names6 = string[] | string | null;
/**
 * Kernels to leave out of the report, by name.
 */
export type Patterns1 = string[];
/**
 * Ready-made rules: those of the chosen option (labels=pytorch). Applied before rules.
 */
export type LabelRules = {
  /**
   * A JavaScript regular expression, with the flags g, s and u, without lookahead, lookbehind and back references.
   */
  pattern: string;
  /**
   * The replacement for every match; $1 is the first group. If absent, matches are deleted.
   */
  replace?: string;
}[];
/**
 * Rules of your own, applied in order.
 */
export type LabelRules1 = {
  /**
   * A JavaScript regular expression, with the flags g, s and u, without lookahead, lookbehind and back references.
   */
  pattern: string;
  /**
   * The replacement for every match; $1 is the first group. If absent, matches are deleted.
   */
  replace?: string;
}[];

/**
 * The composed and resolved configuration of deep-profile, without the hydra node.
 */
export interface DeepProfileConfiguration {
  model: Model;
  infer: Infer;
  workload: Workload;
  /**
   * Values for the arguments of a program after --: args.lr=0.1 there is ${args.lr} in them. Any key may be set.
   */
  args?: {};
  /**
   * Where the workload runs: cpu, cuda:N for the GPU of number N, or auto, which is cuda:0 if a GPU answers, else cpu.
   */
  device: string;
  /**
   * Runs of the workload under the recorder and under nsys; several give mean, standard deviation and 95 % interval per region.
   */
  repeats: number;
  /**
   * Runs before the measured ones, whose results are discarded; no effect if repeats is 1.
   */
  warmup_runs: number;
  pipeline: Pipeline;
  runners: Runners;
  runner: Runner;
  labels?: Labels;
}
/**
 * The shape of the built-in ShallowResNet.
 */
export interface Model {
  /**
   * Name in the executable's model factory.
   */
  name: "dummy_shallow_resnet";
  /**
   * Channels of the input image.
   */
  in_channels: number;
  /**
   * Channels after the stem, and of every block.
   */
  base_channels: number;
  /**
   * Residual blocks.
   */
  num_blocks: number;
  /**
   * Outputs of the linear head; the built-in model has 10.
   */
  num_classes: 10;
  /**
   * safetensors file of weights; null draws them from infer.seed.
   */
  weights: string | null;
}
/**
 * How the built-in ShallowResNet is run.
 */
export interface Infer {
  /**
   * Images per forward pass.
   */
  batch_size: number;
  /**
   * Height and width of an image, in pixels.
   */
  image_size: number;
  /**
   * Statistics of batch norm.
   */
  batch_norm: "running" | "batch";
  /**
   * Forward passes before the measured ones.
   */
  warmup: number;
  /**
   * Measured forward passes.
   */
  iterations: number;
  /**
   * Seed of the random weights and input.
   */
  seed: number;
  /**
   * safetensors file with the input tensor x; null draws it.
   */
  input: string | null;
  /**
   * safetensors file to write the tensor logits to.
   */
  output: string | null;
  /**
   * On a GPU: how activations and weights are stored; sums are float32.
   */
  dtype: "float32" | "float16" | "bfloat16";
  /**
   * On a GPU, by cuDNN: float32 convolutions may round their inputs to TF32.
   */
  tf32: boolean;
  /**
   * On a GPU: what computes convolutions; auto is cuDNN if it was built in.
   */
  gpu_library: "auto" | "cudnn" | "cuda";
  /**
   * On a GPU: launch the layers of a range as one CUDA graph.
   */
  cuda_graph: boolean;
}
export interface WorkloadShallowResnet {
  kind: "shallow_resnet";
  /**
   * What the executable runs.
   */
  program: "forward" | "regions";
}
export interface WorkloadCommand {
  kind: "command";
  /**
   * The program and its arguments, started without a shell.
   *
   * @minItems 1
   *
   * Items: A string: quote numbers, true, false and null, on a command line within other quotes: "workload.command=[prog,'10']".
   */
  command: [string, ...string[]];
}
export interface WorkloadPythonModule {
  kind: "python_module";
  /**
   * The module, as after `python -m`.
   */
  module: string;
  /**
   * Overrides for that program, one string each.
   */
  overrides: string[];
  /**
   * The program's own run directory.
   */
  run_dir: string;
  /**
   * The interpreter: a name found in PATH, or a path.
   */
  python: string;
}
/**
 * Collectors and reports.
 */
export interface Pipeline {
  recorder: Recorder;
  nsys: Nsys;
  ncu: Ncu;
  static_analysis: {
    /**
     * FLOPs and bytes per layer from the model's shape.
     */
    enable: boolean;
  };
  report: {
    /**
     * A report over all processes and devices, before the reports of each.
     */
    aggregate: boolean;
    /**
     * Each report also as an HTML page: one file that opens from disk.
     */
    html: boolean;
    /**
     * A timeline for trace viewers.
     */
    trace: boolean;
  };
}
/**
 * Our NVTX recorder.
 */
export interface Recorder {
  /**
   * Run this collector.
   */
  enable: boolean;
  /**
   * GPU kernels, copies and waits through CUPTI, which admits one tool: auto if the program uses CUDA, leaving CUPTI to another tool or to the program's own profiler; on keeps it from them; off never.
   */
  gpu: "auto" | "on" | "off";
  /**
   * What threads use of the processors: time in each range, counts of page faults and context switches as well, off nothing.
   */
  cpu: "time" | "counts" | "off";
  /**
   * How often, in Hz, it is looked from outside at what threads do and wait in; 0 never. It costs the program nothing, and deep-profile at most 2 % of one processor.
   */
  sampling_frequency: number;
  operation_domains: Patterns;
  include: Names;
  exclude: Names1;
}
/**
 * Nsight Systems; keys are flags of `nsys profile`.
 */
export interface Nsys {
  /**
   * Run this collector.
   */
  enable: boolean;
  /**
   * Whether capture_range applies; false records the whole run.
   */
  gating_nvtx: boolean;
  /**
   * --trace: what is recorded, separated by commas.
   */
  trace: string;
  /**
   * --sample: CPU sampling.
   */
  sample: "none" | "cpu" | "process-tree" | "system-wide";
  /**
   * --cuda-graph-trace: the kernels of CUDA graphs, or each graph as a whole.
   */
  cuda_graph_trace: string;
  /**
   * --capture-range: what starts and ends the recording.
   */
  capture_range: "none" | "nvtx" | "cudaProfilerApi";
  /**
   * --capture-range-end: what happens at the end of the range; null is stop.
   */
  capture_range_end: string | null;
  /**
   * --nvtx-capture: the range to record with capture_range=nvtx.
   */
  nvtx_capture: string | null;
  /**
   * More arguments for nsys profile, passed on unchanged.
   *
   * Items: A string: quote numbers, true, false and null, on a command line within other quotes: "pipeline.nsys.extra_args=[--duration,'10']".
   */
  extra_args: string[];
}
/**
 * Nsight Compute.
 */
export interface Ncu {
  /**
   * Run this collector.
   */
  enable: boolean;
  /**
   * Limit the collector to what runs inside NVTX regions.
   */
  gating_nvtx: boolean;
  ncu_cli: NcuCli;
  /**
   * Select regions by ncu's own --nvtx-include; false profiles everything and selects in the reports.
   */
  native_nvtx: boolean;
  /**
   * If a range cannot be captured, measure it by app-range replay.
   */
  fallback: boolean;
  /**
   * Fail if no region matches.
   */
  require_match: boolean;
  /**
   * Profile only this many kernels, those with the most GPU time in a recording of the program; null: all.
   */
  top_n_kernels: number | null;
  /**
   * Minutes after which a run of ncu is stopped; what it measured is kept. null: no limit.
   */
  timeout_min: number | null;
}
/**
 * Flags of ncu, one to one; null leaves a flag to ncu.
 */
export interface NcuCli {
  /**
   * --target-processes: whether child processes are profiled too.
   */
  target_processes: "all" | "application-only" | null;
  /**
   * --replay-mode: what is run again to collect every metric.
   */
  replay_mode: "kernel" | "application" | "range" | "app-range";
  nvtx: {
    include: Names2;
    exclude: Names3;
  };
  set: Names4;
  sections: Names5;
  metrics: Names6;
  /**
   * --kernel-name: kernels by name, regex: for an expression.
   */
  kernel_name: string | null;
  /**
   * --kernel-name-base: which form of the name.
   */
  kernel_name_base: "function" | "demangled" | "mangled" | null;
  kernel_exclude: Patterns1;
  /**
   * --launch-skip: matching launches (or ranges) to skip first.
   */
  launch_skip: number | null;
  /**
   * --launch-count: launches (or ranges) to profile.
   */
  launch_count: number | null;
  /**
   * --clock-control: how clocks are controlled while profiling.
   */
  clock_control: "base" | "boost" | "force-boost" | "none" | null;
  /**
   * --cache-control: whether caches are flushed before every pass.
   */
  cache_control: "all" | "none" | null;
  /**
   * --force-overwrite: replace report files that exist.
   */
  force_overwrite: boolean;
  export: {
    /**
     * Tables beside the .ncu-rep file.
     */
    csv: boolean;
  };
  /**
   * More arguments for ncu, passed on unchanged.
   *
   * Items: A string: quote numbers, true, false and null, on a command line within other quotes: "pipeline.ncu.ncu_cli.extra_args=[--max-connections,'512']".
   */
  extra_args: string[];
}
/**
 * Stage 1: analysis before the run.
 */
export interface Runners {
  analysis: {
    static: {
      /**
       * FLOPs and bytes per layer from the model's shape.
       */
      enabled: boolean;
    };
  };
}
/**
 * Stage 2: the profiled run.
 */
export interface Runner {
  /**
   * deep writes every artifact of the run, light the region reports only.
   */
  mode: "deep" | "light";
  /**
   * Kernels (or CPU operations) listed in kernels.md.
   */
  top_n_kernels: number;
  artifacts: {
    /**
     * Where the artifacts of stage 2 go.
     */
    stage2_dir: string;
  };
}
/**
 * Rules that unify labels which a program numbers call by call, for all collectors.
 */
export interface Labels {
  preset: LabelRules;
  rules: LabelRules1;
  /**
   * Labels that differ only in numbers are one region where there are more than so many; null: never.
   */
  fold?: number | null;
}
