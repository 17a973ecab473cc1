/** The table of profiling tools. */
import { ncuTool } from "./ncu/tool.ts";
import { nsysTool } from "./nsys/tool.ts";
import { recorderTool } from "./recorder/tool.ts";
import type { ProfilingTool } from "./tool.ts";

/** In the order in which they run: each may use what those before it recorded. */
export const TOOLS: readonly ProfilingTool[] = [recorderTool, nsysTool, ncuTool];

export const TOOL_NAMES: readonly string[] = TOOLS.map(({ name }) => name);

/** Names that show that a directory holds a run's results, so that another run or import must not write there. */
export const RESULT_FILES: readonly string[] = [...TOOL_NAMES, "report.md", "env.json"];
