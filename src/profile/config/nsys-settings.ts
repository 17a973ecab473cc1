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
