/** The table of profiling tools. */
import { ncuTool } from "./ncu/tool.ts";
import { nsysTool } from "./nsys/tool.ts";
import { recorderTool } from "./recorder/tool.ts";
import type { ProfilingTool } from "./tool.ts";

/** In running order: each tool may use recordings of earlier ones. */
export const TOOLS: readonly ProfilingTool[] = [recorderTool, nsysTool, ncuTool];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);

/** Names that mark a directory with a run's results, where another run or import must not write. */
export const RESULT_FILES: readonly string[] = [...TOOL_NAMES, "report.md", "env.json"];
