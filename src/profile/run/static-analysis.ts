import { basename } from "node:path";
import type { DevicePeaks, LayerWork, StaticAnalysis } from "../../report/view/static-analysis.ts";
import { fileProblem, readText } from "../../system/files.ts";
import {
  fits,
  listOf,
  maybe,
  measure,
  objectOf,
  orNull,
  type Shape,
  text,
} from "../../system/shape.ts";
import type { Workload } from "../machine/process.ts";
import type { ProfileSection } from "./run.ts";

/** The document that the built-in workload prints, as far as it is read here. */
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

/** At most one of the two is present; neither for programs that print no document. */
export interface ReadStaticAnalysis {
  readonly analysis?: StaticAnalysis;
  /** If the analysis is missing although there should be one: the reason, as a note. */
  readonly problem?: string;
}

/**
 * Reads parameters, FLOPs and bytes per layer and the device's peaks from the document that the built-in
 * workload prints. Empty for other programs, and if the workload ended before it printed the document.
 */
export function readStaticAnalysis(
  workload: Workload,
  { collector, stdoutFile }: Pick<ProfileSection, "collector" | "stdoutFile">,
): ReadStaticAnalysis {
  if (workload.stdout !== "document" || stdoutFile === null) return {};
  const problem = (why: string) => ({
    problem: `no static analysis: the workload's output ${collector}/${basename(stdoutFile)} ${why}`,
  });
  let printed: string;
  try {
    printed = readText(stdoutFile);
  } catch (error) {
    return problem(`cannot be read: ${fileProblem(error)}`);
  }
  const document = documentOf(printed);
  if (document === null) return problem("has been changed");
  const { parameters, layers, peaks, timings_ms } = document;
  // Under ncu a pass is replayed many times, so its time is not that of the workload.
  const passMs = collector === "ncu" ? null : timings_ms.median;
  return { analysis: { parameters, layers, peaks: peaks ?? null, passMs } };
}

/** Null if the file was cut or changed since; the workload itself prints complete documents only. */
function documentOf(printed: string): WorkloadDocument | null {
  try {
    const document: unknown = JSON.parse(printed);
    return fits<WorkloadDocument>(document, DOCUMENT) ? document : null;
  } catch {
    return null;
  }
}
