import { readFileSync } from "node:fs";
import type { DevicePeaks, LayerWork, StaticAnalysis } from "../report/static-analysis.ts";
import type { ProfileSection } from "./run.ts";
import type { Workload } from "./workload/workload.ts";

/** What the built-in workload prints, as far as it is read here. */
interface WorkloadDocument {
  readonly parameters: { readonly count: number; readonly bytes: number };
  readonly layers: readonly LayerWork[];
  readonly timings_ms: { readonly median: number };
  readonly peaks?: DevicePeaks;
}

/**
 * Parameters, FLOPs and bytes per layer and the device's peaks, from the document that the built-in
 * workload prints. Null for programs that print none, and when the workload ended before it could.
 */
export function readStaticAnalysis(
  workload: Workload,
  { collector, stdoutFile }: Pick<ProfileSection, "collector" | "stdoutFile">,
): StaticAnalysis | null {
  if (workload.stdout !== "document" || stdoutFile === null) return null;
  const { parameters, layers, peaks, timings_ms } = JSON.parse(
    readFileSync(stdoutFile, "utf8"),
  ) as WorkloadDocument;
  // Under ncu a pass is replayed over and over: its time is ncu's.
  const passMs = collector === "ncu" ? null : timings_ms.median;
  return { parameters, layers, peaks: peaks ?? null, passMs };
}
