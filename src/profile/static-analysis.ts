import { readFileSync } from "node:fs";
import type { LayerWork } from "../report/static-analysis.ts";
import type { ProcessOutcome } from "./machine/process.ts";
import type { Workload } from "./workload/workload.ts";

/**
 * FLOPs and bytes per layer, from the document that the built-in workload prints. Null for programs
 * that print none, and when the workload ended before it could.
 */
export function readLayerWork(
  workload: Workload,
  outcome: ProcessOutcome,
): readonly LayerWork[] | null {
  if (workload.stdout !== "document" || outcome.exitCode !== 0) return null;
  const document = JSON.parse(readFileSync(outcome.stdoutFile, "utf8")) as {
    readonly layers: readonly LayerWork[];
  };
  return document.layers;
}
