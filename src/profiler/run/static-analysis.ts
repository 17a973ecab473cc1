/** The static analysis of the built-in workload, and the peaks of its device. */
import { basename } from "node:path";
import { askProgram } from "../../foundation/system/ask-program.ts";
import { fileProblem, readText } from "../../foundation/system/files.ts";
import {
  fits,
  listOf,
  maybe,
  measure,
  objectOf,
  orNull,
  type Shape,
  text,
} from "../../foundation/system/shape.ts";
import type { DevicePeaks, LayerWork, StaticAnalysis } from "../../report/view/layer-work.ts";
import type { Workload } from "../machine/process.ts";

/** The members of the built-in workload's document that are read here. */
interface WorkloadDocument {
  readonly parameters: { readonly count: number; readonly bytes: number };
  readonly layers: readonly LayerWork[];
  readonly timings_ms: { readonly median: number };
  /** The result of `--peaks`. */
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
  /** The reason why the analysis is missing, as a note. */
  readonly problem?: string;
}

/**
 * Reads parameters, FLOPs and bytes per layer from the document that the built-in workload prints. Empty for other
 * programs, and if the workload ended before it printed the document.
 *
 * @param measured the peaks of the device, if they were measured separately
 */
export function readStaticAnalysis(
  workload: Workload,
  { collector, stdoutFile }: { readonly collector: string; readonly stdoutFile: string | null },
  measured?: DevicePeaks,
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
  const { parameters, layers, timings_ms } = document;
  // ncu replays a pass many times, so its time is not that of the workload.
  const passMs = collector === "ncu" ? null : timings_ms.median;
  return { analysis: { parameters, layers, peaks: measured ?? null, passMs } };
}

/** Null if the file was cut or changed: the workload itself prints only complete documents. */
function documentOf(printed: string): WorkloadDocument | null {
  try {
    const document: unknown = JSON.parse(printed);
    return fits<WorkloadDocument>(document, DOCUMENT) ? document : null;
  } catch {
    return null;
  }
}

/** Longer than any device needs: a hanging driver must not delay the results. */
const PEAKS_LIMIT_MS = 60_000;
const MAX_DOCUMENT_BYTES = 64e6;

/**
 * Measures the peaks of the device with the workload, in a process that is not profiled. Null if the workload cannot
 * measure them, was stopped, or failed, which is reported with `say`.
 */
export async function measurePeaks(
  { peaksArgv, cwd, env }: Workload,
  stop: AbortSignal,
  say: (line: string) => void,
): Promise<DevicePeaks | null> {
  if (peaksArgv === undefined || stop.aborted) return null;
  const result = await askProgram({
    argv: peaksArgv,
    cwd,
    env: { ...process.env, ...env },
    abort: stop,
    limitMs: PEAKS_LIMIT_MS,
    maxBytes: MAX_DOCUMENT_BYTES,
    guarded: true,
  });
  const peaks = result.failed ? undefined : documentOf(result.stdout)?.peaks;
  if (peaks !== undefined) return peaks;
  if (!stop.aborted) {
    const why = result.stderr.trim().split("\n").at(-1) || result.why || "it gave none";
    say(`what the device can do at most is unknown: ${why}`);
  }
  return null;
}
