import type { NsysSettings } from "../../../../src/profiler/tools/profiler-config.ts";

/** The preset of `conf/profiling/nsys`, with changes. */
export const settings = (changes: Partial<NsysSettings>): NsysSettings => ({
  enable: true,
  gating_nvtx: true,
  trace: "cuda,nvtx,osrt",
  sample: "none",
  cuda_graph_trace: "node",
  capture_range: "none",
  capture_range_end: null,
  nvtx_capture: "prefill",
  extra_args: [],
  ...changes,
});
