/** The wall time of whole processes, with and without ranges, of which regions are a part. */
import type { ProgramSpan } from "../model/timeline.ts";
import type { ProcessAttribution } from "./attribute.ts";
import { type GpuUse, useBetween } from "./gpu-activity.ts";
import { type Interval, unionNs } from "./interval-union.ts";
import type { RunSpan } from "./region-model.ts";

/**
 * @param program the program that the recorded processes belong to, if its start and end are known
 * @param device the device whose activity counts; null for all
 * @returns null if no process has a duration
 */
export function runSpan(
  processes: readonly ProcessAttribution[],
  program: ProgramSpan | undefined,
  device: string | null,
): RunSpan | null {
  const isAlone = processes.length === 1;
  const spans = processes.map((attribution) => spanOf(attribution, program, isAlone));
  const parts = processes.map((attribution, index) =>
    partsOf(spans[index] ?? NOTHING, attribution, device),
  );
  const sum = (measure: (part: ProcessPart) => number) =>
    parts.reduce((total, part) => total + measure(part), 0);
  const processNs = sum(({ wallNs }) => wallNs);
  if (processNs === 0) return null;
  const ranged = parts.filter(({ hasRanges }) => hasRanges);
  const overRanged = (measure: (part: ProcessPart) => number) =>
    ranged.length === 0 ? null : ranged.reduce((total, part) => total + measure(part), 0);
  return {
    wallNs: isAlone ? processNs : unionNs(spans),
    processNs,
    processCount: processes.length,
    inRangesNs: sum(({ inRangesNs }) => inRangesNs),
    beforeRangesNs: overRanged(({ beforeNs }) => beforeNs),
    afterRangesNs: overRanged(({ afterNs }) => afterNs),
    gpu: addedUp(parts.map(({ gpu }) => gpu)),
    gpuInRanges: addedUp(parts.map(({ gpuInRanges }) => gpuInRanges)),
  };
}

interface ProcessPart {
  readonly wallNs: number;
  readonly hasRanges: boolean;
  readonly inRangesNs: number;
  readonly beforeNs: number;
  readonly afterNs: number;
  readonly gpu: GpuUse | null;
  readonly gpuInRanges: GpuUse | null;
}

const NOTHING: Interval = { startNs: 0, endNs: 0 };

/**
 * The recorder is loaded by the first call of NVTX or CUDA, so the process began before it was recorded, and ends
 * later. For a program that was started here, its whole duration counts; the time of a wrapper is added to the only
 * process recorded in it.
 */
function spanOf(
  { process, ranges: { roots } }: ProcessAttribution,
  program: ProgramSpan | undefined,
  isAlone: boolean,
): Interval {
  const isProgram = program !== undefined && (isAlone || program.pid === process.pid);
  let { startNs, endNs } = process;
  if (isProgram) {
    startNs = Math.min(startNs, program.startNs);
    endNs = Math.max(endNs, program.endNs);
  }
  return {
    startNs: Math.min(startNs, roots.startNs ?? startNs),
    endNs: Math.max(endNs, roots.endNs ?? endNs),
  };
}

function partsOf(
  { startNs, endNs }: Interval,
  { ranges: { roots }, gpu }: ProcessAttribution,
  device: string | null,
): ProcessPart {
  const timeline = gpu.timelineOf(device);
  return {
    wallNs: endNs - startNs,
    hasRanges: roots.startNs !== null,
    inRangesNs: roots.coveredNs,
    beforeNs: roots.startNs === null ? 0 : roots.startNs - startNs,
    afterNs: roots.endNs === null ? 0 : endNs - roots.endNs,
    gpu: timeline && useBetween(timeline, startNs, endNs),
    gpuInRanges: timeline && (roots.gpu.get(device) ?? UNUSED),
  };
}

const UNUSED: GpuUse = { busyNs: 0, kernelNs: 0, copyNs: 0 };

/** Null if none of the processes has GPU activity. */
function addedUp(uses: readonly (GpuUse | null)[]): GpuUse | null {
  if (uses.length > 0 && uses.every((use) => use === null)) return null;
  return uses.reduce<GpuUse>(
    (sum, use) =>
      use === null
        ? sum
        : {
            busyNs: sum.busyNs + use.busyNs,
            kernelNs: sum.kernelNs + use.kernelNs,
            copyNs: sum.copyNs + use.copyNs,
          },
    UNUSED,
  );
}

/** GPU activity while no range was open. */
export const outsideUse = ({ gpu, gpuInRanges }: RunSpan): GpuUse | null =>
  gpu && {
    busyNs: Math.max(0, gpu.busyNs - (gpuInRanges?.busyNs ?? 0)),
    kernelNs: Math.max(0, gpu.kernelNs - (gpuInRanges?.kernelNs ?? 0)),
    copyNs: Math.max(0, gpu.copyNs - (gpuInRanges?.copyNs ?? 0)),
  };
