/** CUPTI's Range Profiler and PM Sampling, by our recorder, as a profiling tool: hardware counters by region, or at an interval. */
import type { ProfilingTool } from "../tool.ts";

export const countersTool: ProfilingTool = {
  name: "counters",
  product: "CUPTI's profiler",
  needsGpu: true,
  repeatsItself: true,
  settings: async () => (await import("./counters-settings.ts")).counterSettings,
  collect: async (workload, { config, native, ...context }) =>
    config.pipeline.counters?.timeline === true
      ? (await import("./sample-devices.ts")).sampleDevices(workload, context, { config, native })
      : (await import("./counters-collector.ts")).collectCounters(workload, context, {
          config,
          native,
        }),
  plan: async ({ argv }, { config }) =>
    (await import("./counters-settings.ts")).planCounters(argv, config),
  reread: async (source, directory, context) =>
    source.kind === "recording"
      ? (await import("./sample-devices.ts")).rereadSamples(source, directory, context)
      : (await import("./counters-collector.ts")).rereadCounters(directory, context),
  import: { formats: [], filesOfRun: () => [] },
  // What it needs is what the recorder and ncu are examined for.
  doctor: async () => ({ checks: [], verdicts: [] }),
};
