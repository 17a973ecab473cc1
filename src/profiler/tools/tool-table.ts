/** The table of profiling tools. */
import { countersTool } from "./counters/counters-tool.ts";
import { ncuTool } from "./ncu/ncu-tool.ts";
import { nsysTool } from "./nsys/nsys-tool.ts";
import { pytorchTool } from "./pytorch/pytorch-tool.ts";
import { recorderTool } from "./recorder/recorder-tool.ts";
import type { ImportTool, ProfilingTool } from "./tool.ts";

/** In running order: each tool may use recordings of earlier ones. */
export const TOOLS: readonly ProfilingTool[] = [recorderTool, nsysTool, countersTool, ncuTool];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);

/** Whose files `deep-profile import` reads: those of tools, and of profilers that programs run themselves. */
export const IMPORT_TOOLS: readonly ImportTool[] = [pytorchTool, ...TOOLS];

/** Names of the folders that reports are in. */
export const REPORT_FOLDERS: readonly string[] = [...TOOL_NAMES, pytorchTool.name];

/** Names that mark a directory with a run's results, where another run or import must not write. */
export const RESULT_FILES: readonly string[] = [...REPORT_FOLDERS, "report.md", "env.json"];
