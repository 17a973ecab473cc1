import { basename } from "node:path";
import { fileProblem } from "../file-problem.ts";
import type { DevicePeaks, LayerWork, StaticAnalysis } from "../report/static-analysis.ts";
import { readText } from "../require-file.ts";
import { fits, listOf, maybe, measure, objectOf, orNull, type Shape, text } from "../shape.ts";
import type { ProfileSection } from "./run.ts";
import type { Workload } from "./workload/workload.ts";

/** What the built-in workload prints, as far as it is read here. */
interface WorkloadDocument {
  readonly parameters: { readonly count: number; readonly bytes: number };
  readonly layers: readonly LayerWork[];
  readonly timings_ms: { readonly median: number };
  readonly peaks?: DevicePeaks;
}

const PARAMETERS: Shape<WorkloadDocument["parameters"]> = { count: measure, bytes: measure };
const LAYER: Shape<LayerWork> = {
  name: text,
  operation: text,
  range: text,
  flops: measure,
  bytes: measure,
};
const PEAKS: Shape<DevicePeaks> = {
  gflops_per_second: orNull(measure),
  gbytes_per_second: orNull(measure),
  source: text,
};
const DOCUMENT: Shape<WorkloadDocument> = {
  parameters: objectOf(PARAMETERS),
  layers: listOf(objectOf(LAYER)),
  timings_ms: objectOf<WorkloadDocument["timings_ms"]>({ median: measure }),
  peaks: maybe(objectOf(PEAKS)),
};

/** One of them at most is there: programs that print no document have neither. */
export interface ReadStaticAnalysis {
  readonly analysis?: StaticAnalysis;
  /** Why there is none although there should be, as a note. */
  readonly problem?: string;
}

/**
 * Parameters, FLOPs and bytes per layer and the device's peaks, from the document that the built-in
 * workload prints. None for programs that print none, and when the workload ended before it could.
 */
export function readStaticAnalysis(
  workload: Workload,
  { collector, stdoutFile }: Pick<ProfileSection, "collector" | "stdoutFile">,
): ReadStaticAnalysis {
  if (workload.stdout !== "document" || stdoutFile === null) return {};
  const problem = (why: string) => ({
    problem: `no static analysis: ${collector}/${basename(stdoutFile)}, which the workload printed, ${why}`,
  });
  let printed: string;
  try {
    printed = readText(stdoutFile);
  } catch (error) {
    return problem(`cannot be read: ${fileProblem(error)}`);
  }
  const document = documentOf(printed);
  if (document === null) return problem("is not what it printed any more");
  const { parameters, layers, peaks, timings_ms } = document;
  // Under ncu a pass is replayed over and over: its time is ncu's.
  const passMs = collector === "ncu" ? null : timings_ms.median;
  return { analysis: { parameters, layers, peaks: peaks ?? null, passMs } };
}

/** Null for a file that was cut, or changed: the workload itself prints whole documents. */
function documentOf(printed: string): WorkloadDocument | null {
  try {
    const document: unknown = JSON.parse(printed);
    return fits<WorkloadDocument>(document, DOCUMENT) ? document : null;
  } catch {
    return null;
  }
}
