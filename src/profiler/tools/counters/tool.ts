/** CUPTI's Range Profiler, by our recorder, as a profiling tool: hardware counters by region. */
import type { ProfilingTool } from "../tool.ts";

export const countersTool: ProfilingTool = {
  name: "counters",
  product: "CUPTI's Range Profiler",
  needsGpu: true,
  repeatsItself: true,
  settings: async () => (await import("./settings.ts")).counterSettings,
  collect: async (workload, { config, native, ...context }) =>
    (await import("./collector.ts")).collectCounters(workload, context, { config, native }),
  plan: async ({ argv }, { config }) => (await import("./settings.ts")).planCounters(argv, config),
  reread: async (_, directory, context) =>
    (await import("./collector.ts")).rereadCounters(directory, context),
  import: { formats: [], filesOfRun: () => [] },
  doctor: async (facts) => (await import("./settings.ts")).examineCounters(facts),
};
