import { plural } from "../../text/plural.ts";
import type { GpuStateEvent } from "./events.ts";
import { lossReason } from "./format.ts";

export interface GpuFindings {
  readonly states: readonly GpuStateEvent[];
  /** Lost records by reason. */
  readonly losses: ReadonlyMap<number, number>;
  /** Records that found no room in the file, or came while their thread wrote down others. */
  readonly unwritten: number;
  /** Work whose launch was not seen. */
  readonly withoutLaunch: number;
  /** Launches of which nothing came back, and no other note says why. */
  readonly launchesWithoutKernels: number;
}

/** What CUPTI's result codes mean for somebody who wants kernels in a report. */
const remedies: ReadonlyMap<number, string> = new Map([
  [12, "another tool already uses CUPTI in this process: ncu, nsys, or the program's own profiler"],
  [14, "this CUPTI does not match the driver; set HYDRACONF_CUPTI_PATH to another one"],
  [33, "the virtual GPU does not allow profiling"],
  [34, "this CUPTI does not match the driver; set HYDRACONF_CUPTI_PATH to another one"],
  [
    35,
    "the driver restricts performance counters to administrators (NVreg_RestrictProfilingToAdminUsers=0 allows all users)",
  ],
  [39, "another tool already uses CUPTI in this process: ncu, nsys, or the program's own profiler"],
  [40, "the virtual GPU does not allow profiling"],
  [41, "confidential computing does not allow profiling"],
  [42, "crypto mining GPUs do not allow profiling"],
  [43, "this GPU does not allow profiling while it is partitioned (MIG)"],
  [45, "this WSL (Windows Subsystem for Linux) does not allow profiling"],
]);

/** What a reader must know about GPU work that is not in the recording. */
export function gpuNotes(findings: GpuFindings): readonly string[] {
  const { states, losses, unwritten, withoutLaunch, launchesWithoutKernels } = findings;
  const collecting = states.some(({ failure }) => failure === null);
  const what = collecting ? "some GPU work was not recorded" : "GPU kernels were not recorded";
  const lost = (reason: number): number => losses.get(reason) ?? 0;
  return [
    ...states.flatMap(({ failure, result }) => {
      if (failure === null) return [];
      const remedy = remedies.get(result);
      return [`${what}: ${failure}${remedy === undefined ? "" : ` (${remedy})`}`];
    }),
    ...counted(
      lost(lossReason.droppedByCupti),
      "record of GPU work was",
      "records of GPU work were",
      "dropped by CUPTI",
    ),
    ...counted(
      lost(lossReason.unfinished),
      "kernel or copy",
      "kernels or copies",
      "had not finished when the process ended",
    ),
    ...counted(
      unwritten,
      "record of GPU work",
      "records of GPU work",
      "could not be written to the file",
    ),
    ...counted(
      withoutLaunch,
      "kernel or copy came from a call that was not recorded; it counts",
      "kernels or copies came from calls that were not recorded; they count",
      "outside every range",
    ),
    ...counted(
      launchesWithoutKernels,
      "kernel launch has",
      "kernel launches have",
      "no kernel: the GPU's records did not arrive (the process was aborted, or its own profiler took them), or the calls failed or were captured into a graph",
    ),
  ];
}

const counted = (count: number, one: string, many: string, rest: string): string[] =>
  count > 0 ? [`${plural(count, one, many)} ${rest}`] : [];
