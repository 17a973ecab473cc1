import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findNsightTool, type NsightTool } from "../src/profiler/machine/find-tools.ts";

/**
 * The real `nsys` or `ncu`, or null after printing which tests are skipped for want of it. Where
 * `HYDRACONF_NSIGHT` promises the tools (CI installs them), they must be there.
 */
export function nsightOrSkip(tool: NsightTool, what: string): string | null {
  const found = findNsightTool(tool);
  const promised = process.env["HYDRACONF_NSIGHT"];
  if (promised !== undefined && found !== join(promised, tool))
    throw new Error(`HYDRACONF_NSIGHT=${promised} holds no ${tool}`);
  if (found === null)
    console.warn(
      `SKIPPED ${what}: needs ${tool} on PATH (scripts/install-nsight.mjs unpacks it for tests)`,
    );
  return found;
}

/** What the tools need to run in a test: a home that they may fill, and no files deployed there. */
export function nsightEnvironment(): Readonly<Record<string, string>> {
  const home = mkdtempSync(join(tmpdir(), "nsight-home-"));
  return { HOME: home, NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT: "1" };
}
