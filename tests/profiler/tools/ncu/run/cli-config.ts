import type { NcuCliConfig } from "../../../../../src/profiler/tools/config.ts";

/** As the default preset has it, with fewer metrics. */
export const cliConfig: NcuCliConfig = {
  target_processes: "all",
  replay_mode: "kernel",
  nvtx: { include: null, exclude: null },
  set: "roofline",
  sections: ["SpeedOfLight"],
  metrics: ["gpu__time_duration.sum"],
  kernel_name: null,
  kernel_name_base: "demangled",
  kernel_exclude: [],
  launch_skip: null,
  launch_count: null,
  clock_control: "base",
  cache_control: "all",
  force_overwrite: false,
  export: { csv: true },
  extra_args: [],
};
