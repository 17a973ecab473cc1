/** The PyTorch profiler as a source of imports: programs run it themselves. */
import type { ImportTool } from "../tool.ts";

export const pytorchTool: ImportTool = {
  name: "pytorch",
  product: "the PyTorch profiler",
  import: {
    formats: [
      {
        format: "trace of the PyTorch profiler (*.pt.trace.json, also .gz)",
        load: async () => (await import("./pytorch-importer.ts")).torchTraceImporter,
      },
    ],
    // The names that torch.profiler.tensorboard_trace_handler gives.
    filesOfRun: (names) => names.filter((name) => /\.pt\.trace\.json(?:\.gz)?$/.test(name)),
  },
};
