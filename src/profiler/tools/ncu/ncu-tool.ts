/** Nsight Compute as a profiling tool. */
import type { ProfilingTool } from "../tool.ts";

export const ncuTool: ProfilingTool = {
  name: "ncu",
  product: "Nsight Compute",
  needsGpu: true,
  repeatsItself: true,
  settings: async () => (await import("./ncu-settings.ts")).ncuSettings,
  collect: async (workload, { config, native, ...context }) => {
    const { createNcuCollector, ncuOptions } = await import("./ncu-collector.ts");
    return createNcuCollector(ncuOptions({ config, native })).collect(workload, context);
  },
  plan: async (workload, context) => (await import("./plan-passes.ts")).planNcu(workload, context),
  reread: async (source, directory, context) =>
    (await import("./reread-passes.ts")).rereadNcu(source, directory, context),
  import: {
    formats: [
      {
        format: "Nsight Compute report (*.ncu-rep, *.ncu-repz; ncu itself is not needed)",
        load: async () => (await import("./ncu-importer.ts")).ncuReportImporter,
      },
      {
        format: "Nsight Compute CSV (ncu --csv --page raw or details)",
        load: async () => (await import("./ncu-importer.ts")).ncuCsvImporter,
      },
    ],
    isOneMeasurement: true,
    filesOfRun: (names) => names.filter((name) => /\.ncu-repz?$/.test(name)),
  },
  doctor: async (facts) => (await import("./ncu-settings.ts")).examineNcu(facts),
};
