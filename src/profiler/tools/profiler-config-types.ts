/** The composed configuration, of which schemas/config.schema.json is the schema. */
// Made by `hydraconf schema --types`. Make it again instead of editing it.

export type OptionalFile = string | null;
/**
 * What is profiled.
 */
export type Workload = WorkloadShallowResnet | WorkloadCommand | WorkloadPythonModule;
export type Text = string;
export type Patterns = readonly string[];
export type Names = readonly string[] | string | null;
export type LabelRules = readonly {
  /**
   * A JavaScript regular expression, with the flags g, s and u, without lookahead, lookbehind and back references.
   */
  readonly pattern: Text;
  /**
   * The replacement for every match; $1 is the first group. If absent, matches are deleted.
   */
  readonly replace?: string;
}[];

/**
 * The composed and resolved configuration of deep-profile, without the hydra node.
 */
export interface DeepProfileConfiguration {
  readonly model: Model;
  readonly infer: Infer;
  readonly workload: Workload;
  /**
   * Values for the arguments of a program after --: args.lr=0.1 there is ${args.lr} in them. Any key may be set.
   */
  readonly args?: {};
  /**
   * Where the workload runs: cpu, cuda:N for the GPU of number N, or auto, which is cuda:0 if a GPU answers, else cpu.
   */
  readonly device: string;
  /**
   * Runs of the workload under the recorder and under nsys; several give mean, standard deviation and 95 % interval per region.
   */
  readonly repeats: number;
  /**
   * Runs before the measured ones, whose results are discarded; no effect if repeats is 1.
   */
  readonly warmup_runs: number;
  readonly pipeline: Pipeline;
  readonly runners: Runners;
  readonly runner: Runner;
  readonly labels?: Labels;
}
/**
 * The shape of the built-in ShallowResNet.
 */
export interface Model {
  /**
   * Name in the executable's model factory.
   */
  readonly name: "dummy_shallow_resnet";
  /**
   * Channels of the input image.
   */
  readonly in_channels: number;
  /**
   * Channels after the stem, and of every block.
   */
  readonly base_channels: number;
  /**
   * Residual blocks.
   */
  readonly num_blocks: number;
  /**
   * Outputs of the linear head; the built-in model has 10.
   */
  readonly num_classes: 10;
  /**
   * safetensors file of weights; null draws them from infer.seed.
   */
  readonly weights: OptionalFile;
}
/**
 * How the built-in ShallowResNet is run.
 */
export interface Infer {
  /**
   * Images per forward pass.
   */
  readonly batch_size: number;
  /**
   * Height and width of an image, in pixels.
   */
  readonly image_size: number;
  /**
   * Statistics of batch norm.
   */
  readonly batch_norm: "running" | "batch";
  /**
   * Forward passes before the measured ones.
   */
  readonly warmup: number;
  /**
   * Measured forward passes.
   */
  readonly iterations: number;
  /**
   * Seed of the random weights and input.
   */
  readonly seed: number;
  /**
   * safetensors file with the input tensor x; null draws it.
   */
  readonly input: OptionalFile;
  /**
   * safetensors file to write the tensor logits to.
   */
  readonly output: OptionalFile;
  /**
   * On a GPU: how activations and weights are stored; sums are float32.
   */
  readonly dtype: "float32" | "float16" | "bfloat16";
  /**
   * On a GPU, by cuDNN: float32 convolutions may round their inputs to TF32.
   */
  readonly tf32: boolean;
  /**
   * On a GPU: what computes convolutions; auto is cuDNN if it was built in.
   */
  readonly gpu_library: "auto" | "cudnn" | "cuda";
  /**
   * On a GPU: launch the layers of a range as one CUDA graph.
   */
  readonly cuda_graph: boolean;
}
export interface WorkloadShallowResnet {
  readonly kind: "shallow_resnet";
  /**
   * What the executable runs.
   */
  readonly program: "forward" | "regions";
}
export interface WorkloadCommand {
  readonly kind: "command";
  /**
   * The program and its arguments, started without a shell.
   *
   * Items: A string: quote numbers, true, false and null, on a command line within other quotes: "workload.command=[prog,'10']".
   */
  readonly command: readonly string[];
}
export interface WorkloadPythonModule {
  readonly kind: "python_module";
  /**
   * The module, as after `python -m`.
   */
  readonly module: string;
  /**
   * Overrides for that program, one string each.
   */
  readonly overrides: readonly string[];
  /**
   * The program's own run directory.
   */
  readonly run_dir: Text;
  /**
   * The interpreter: a name found in PATH, or a path.
   */
  readonly python: Text;
}
/**
 * Collectors and reports.
 */
export interface Pipeline {
  readonly recorder: Recorder;
  readonly nsys: Nsys;
  readonly counters?: Counters;
  readonly ncu: Ncu;
  readonly static_analysis: {
    /**
     * FLOPs and bytes per layer from the model's shape.
     */
    readonly enable: boolean;
  };
  readonly report: {
    /**
     * A report over all processes and devices, before the reports of each.
     */
    readonly aggregate: boolean;
    /**
     * Each report also as an HTML page: one file that opens from disk.
     */
    readonly html: boolean;
    /**
     * A timeline for trace viewers.
     */
    readonly trace: boolean;
  };
}
/**
 * Our NVTX recorder.
 */
export interface Recorder {
  /**
   * Run this collector.
   */
  readonly enable: boolean;
  /**
   * GPU kernels, copies and waits through CUPTI, which admits one tool: auto if the program uses CUDA, leaving CUPTI to another tool or to the program's own profiler; on keeps it from them; off never.
   */
  readonly gpu: "auto" | "on" | "off";
  /**
   * What threads use of the processors: time in each range, counts of page faults, context switches and disk blocks as well, off nothing.
   */
  readonly cpu: "time" | "counts" | "off";
  /**
   * Instructions that threads execute in user space in each range, where the kernel and the processor let programs count them: Linux on x86-64, seldom in virtual machines. A note says why not.
   */
  readonly instructions: boolean;
  /**
   * How often, in Hz, it is looked from outside at what threads do and wait in; 0 never. It costs the program nothing, and deep-profile at most 2 % of one processor.
   */
  readonly sampling_frequency: number;
  /**
   * NVTX domains whose ranges are operations, never regions.
   */
  readonly operation_domains: Patterns;
  /**
   * Labels of the regions to report; * matches any characters, ? one.
   */
  readonly include: Names;
  /**
   * Labels of regions to leave out.
   */
  readonly exclude: Names;
}
/**
 * Nsight Systems; keys are flags of `nsys profile`.
 */
export interface Nsys {
  /**
   * Run this collector.
   */
  readonly enable: boolean;
  /**
   * Whether capture_range applies; false records the whole run.
   */
  readonly gating_nvtx: boolean;
  /**
   * --trace: what is recorded, separated by commas.
   */
  readonly trace: string;
  /**
   * --sample: CPU sampling.
   */
  readonly sample: "none" | "cpu" | "process-tree" | "system-wide";
  /**
   * --cuda-graph-trace: the kernels of CUDA graphs, or each graph as a whole.
   */
  readonly cuda_graph_trace: string;
  /**
   * --capture-range: what starts and ends the recording.
   */
  readonly capture_range: "none" | "nvtx" | "cudaProfilerApi";
  /**
   * --capture-range-end: what happens at the end of the range; null is stop.
   */
  readonly capture_range_end: string | null;
  /**
   * --nvtx-capture: the range to record with capture_range=nvtx.
   */
  readonly nvtx_capture: string | null;
  /**
   * More arguments for nsys profile, passed on unchanged.
   *
   * Items: A string: quote numbers, true, false and null, on a command line within other quotes: "pipeline.nsys.extra_args=[--duration,'10']".
   */
  readonly extra_args: readonly string[];
}
/**
 * Hardware counters by region through CUPTI's Range Profiler, or of whole devices at an interval through its PM Sampling (CUDA 12.6 or newer), without replay of kernels.
 */
export interface Counters {
  /**
   * Run this collector.
   */
  readonly enable: boolean;
  /**
   * Names of metrics as ncu has them, with their rollups. The program runs once for each pass that they take together; if one of them is no sum, also once for each level of nesting.
   */
  readonly metrics: readonly Text[];
  /**
   * Ranges to measure, by label: those that match, and all in them.
   */
  readonly include: Patterns;
  /**
   * Ranges not to measure, nor any in them.
   */
  readonly exclude: Patterns;
  /**
   * How many ranges a process measures at most, each time that they open.
   */
  readonly most_ranges: number;
  /**
   * How often the program runs at most for metrics that are no sums: deeper levels of nesting are not measured then.
   */
  readonly most_runs: number;
  /**
   * Measure whole devices at an interval, as rows of the timeline, in place of ranges one by one.
   */
  readonly timeline: boolean;
  /**
   * Names of metrics as ncu has them, for timeline: they have to fit one pass. Of a sum its rate per second is given.
   */
  readonly timeline_metrics: readonly Text[];
  /**
   * For timeline: microseconds between two samples. On Turing and GA100, whose devices count cycles: thousands of cycles.
   */
  readonly interval_us: number;
  /**
   * For timeline: how many samples of a device are taken, up to the next 10,000.
   */
  readonly most_samples: number;
}
/**
 * Nsight Compute.
 */
export interface Ncu {
  /**
   * Run this collector.
   */
  readonly enable: boolean;
  /**
   * Limit the collector to what runs inside NVTX regions.
   */
  readonly gating_nvtx: boolean;
  readonly ncu_cli: NcuCli;
  /**
   * Select regions by ncu's own --nvtx-include; false profiles everything and selects in the reports.
   */
  readonly native_nvtx: boolean;
  /**
   * If a range cannot be captured, measure its pass by app-range replay; ladder: only the ranges that were not measured, by app-range replay, and then kernel by kernel.
   */
  readonly fallback: true | false | "ladder";
  /**
   * Fail if no region matches.
   */
  readonly require_match: boolean;
  /**
   * Profile only this many kernels, those with the most GPU time in a recording of the program; null: all.
   */
  readonly top_n_kernels: number | null;
  /**
   * The chip that passes are counted for before a run, e.g. of another machine; null: that of this machine's GPU, or common ones.
   */
  readonly chip?: string | null;
  /**
   * Minutes after which a run of ncu is stopped; what it measured is kept. null: no limit.
   */
  readonly timeout_min: number | null;
}
/**
 * Flags of ncu, one to one; null leaves a flag to ncu.
 */
export interface NcuCli {
  /**
   * --target-processes: whether child processes are profiled too.
   */
  readonly target_processes: "all" | "application-only" | null;
  /**
   * --replay-mode: what is run again to collect every metric.
   */
  readonly replay_mode: "kernel" | "application" | "range" | "app-range";
  /**
   * --graph-profiling: each kernel of a CUDA graph, or each launch of a graph as a whole (in kernel replay).
   */
  readonly graph_profiling?: "node" | "graph" | null;
  /**
   * --app-replay-mode: which kernels have to be the same in every run of application replay.
   */
  readonly app_replay_mode?: "strict" | "balanced" | "relaxed" | null;
  readonly nvtx: {
    /**
     * NVTX ranges to profile: labels, globs (* matches any characters), or ncu's own expressions.
     */
    readonly include: Names;
    /**
     * NVTX ranges to leave out, by label.
     */
    readonly exclude: Names;
  };
  /**
   * --set: section sets.
   */
  readonly set: Names;
  /**
   * --section: sections in addition to the set.
   */
  readonly sections: Names;
  /**
   * --metrics: metrics in addition to the sections.
   */
  readonly metrics: Names;
  /**
   * --kernel-name: kernels by name, regex: for an expression.
   */
  readonly kernel_name: string | null;
  /**
   * --kernel-name-base: which form of the name.
   */
  readonly kernel_name_base: "function" | "demangled" | "mangled" | null;
  /**
   * Kernels to leave out of the report, by name.
   */
  readonly kernel_exclude: Patterns;
  /**
   * --launch-skip: matching launches (or ranges) to skip first.
   */
  readonly launch_skip: number | null;
  /**
   * --launch-count: launches (or ranges) to profile.
   */
  readonly launch_count: number | null;
  /**
   * --clock-control: how clocks are controlled while profiling.
   */
  readonly clock_control: "base" | "boost" | "force-boost" | "none" | null;
  /**
   * --cache-control: whether caches are flushed before every pass.
   */
  readonly cache_control: "all" | "none" | null;
  /**
   * --force-overwrite: replace report files that exist.
   */
  readonly force_overwrite: boolean;
  readonly export: {
    /**
     * Tables beside the .ncu-rep file.
     */
    readonly csv: boolean;
  };
  /**
   * More arguments for ncu, passed on unchanged.
   *
   * Items: A string: quote numbers, true, false and null, on a command line within other quotes: "pipeline.ncu.ncu_cli.extra_args=[--max-connections,'512']".
   */
  readonly extra_args: readonly string[];
}
/**
 * Stage 1: analysis before the run.
 */
export interface Runners {
  readonly analysis: {
    readonly static: {
      /**
       * FLOPs and bytes per layer from the model's shape.
       */
      readonly enabled: boolean;
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
  readonly mode: "deep" | "light";
  /**
   * Kernels (or CPU operations) listed in kernels.md.
   */
  readonly top_n_kernels: number;
  readonly artifacts: {
    /**
     * Where the artifacts of stage 2 go.
     */
    readonly stage2_dir: string;
  };
}
/**
 * Rules that unify labels which a program numbers call by call, for all collectors.
 */
export interface Labels {
  /**
   * Ready-made rules: those of the chosen option (labels=pytorch). Applied before rules.
   */
  readonly preset: LabelRules;
  /**
   * Rules of your own, applied in order.
   */
  readonly rules: LabelRules;
  /**
   * Labels that differ only in numbers are one region where there are more than so many; null: never.
   */
  readonly fold?: number | null;
}
