/** Nsight Systems as a profiling tool. */
import type { ProfilingTool } from "../tool.ts";

export const nsysTool: ProfilingTool = {
  name: "nsys",
  product: "Nsight Systems",
  settings: async () => (await import("./program.ts")).nsysSettings,
  collect: async (workload, { config, native: _, ...context }) =>
    (await import("./nsys-collector.ts"))
      .createNsys(config.pipeline.nsys)
      .collect(workload, context),
  plan: async (workload, { config, directory }) =>
    (await import("./nsys-collector.ts")).planNsys(config.pipeline.nsys, workload, directory),
  reread: async (source, directory, context) =>
    (await import("./nsys-importer.ts")).rereadNsys(source, directory, context),
  import: {
    formats: [
      {
        format: "Nsight Systems SQLite export (*.sqlite)",
        load: async () => (await import("./nsys-importer.ts")).nsysExportImporter,
      },
      {
        format: "Nsight Systems report (*.nsys-rep; needs nsys)",
        load: async () => (await import("./nsys-importer.ts")).nsysReportImporter,
      },
    ],
    // The export is fast to read and does not need nsys.
    filesOfRun: (names) => {
      const exported = names.filter((name) => name.endsWith(".sqlite"));
      return exported.length > 0 ? exported : names.filter((name) => name.endsWith(".nsys-rep"));
    },
  },
  doctor: async (facts) => (await import("./program.ts")).examineNsys(facts),
};
