/** The recorder as a profiling tool: our own library, loaded by NVTX and by the CUDA driver. */
import type { ProfilingTool } from "../tool.ts";
import { FILE_SUFFIX } from "./format.ts";

export const recorderTool: ProfilingTool = {
  name: "recorder",
  product: "the recorder",
  settings: async () => ({ shared: true }),
  collect: async (workload, { config, native, ...context }) => {
    const { recorderOf } = await import("./recorder-collector.ts");
    const parts = { config, native };
    return recorderOf(parts, config.pipeline.recorder.gpu).collect(workload, context);
  },
  plan: async ({ argv }) => ({ runs: [{ command: argv }], notes: [] }),
  reread: async (source, directory, context) =>
    (await import("./recorder-collector.ts")).rereadRecording(source, directory, context),
  import: {
    formats: [
      {
        format: `deep-profile recording (*${FILE_SUFFIX}, or a directory of them)`,
        load: async () => (await import("./recorder-collector.ts")).recordingImporter,
      },
    ],
    filesOfRun: (names) => (names.some((name) => name.endsWith(FILE_SUFFIX)) ? ["."] : []),
  },
  doctor: async (facts) => (await import("./doctor.ts")).examineRecorder(facts),
};
