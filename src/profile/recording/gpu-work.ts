import { WAIT_KINDS } from "../timeline/cupti-names.ts";
import { createKernelTable, type ExecutedKernel } from "../timeline/kernel-table.ts";
import type { KernelList, SynchronizationInstance } from "../timeline/timeline.ts";
import type {
  ClockEvent,
  DeviceEvent,
  GpuEvent,
  GpuStateEvent,
  GpuWorkEvent,
  WaitEvent,
} from "./events.ts";
import { createGpuClock, spanOnTimeline } from "./gpu-clock.ts";
import { gpuNotes } from "./gpu-notes.ts";
import { createLaunches } from "./launches.ts";
import type { NoteCollector } from "./notes.ts";

/** What one process's GPUs did, each piece of work with the call that it came from. */
export interface GpuWork {
  /** By launch. */
  readonly kernels: KernelList;
  /** By start. */
  readonly synchronizations: readonly SynchronizationInstance[];
  readonly devices: readonly GpuDevice[];
}

/** A GPU that a process used. */
export interface GpuDevice {
  /** CUDA device index in this process. */
  readonly index: number;
  readonly name: string;
  /** e.g. `9.0` */
  readonly computeCapability: string;
}

export interface GpuCollection {
  readonly add: (event: GpuEvent) => void;
  /**
   * Once, after all events.
   *
   * @param unwritten records of work that could not be written to the file
   */
  readonly finish: (recordingFinished: boolean, unwritten: number) => GpuWork;
}

/**
 * Joins work with its launches. They come in any order: launches stand in the streams of their
 * threads, work in those of CUPTI's, and CUPTI delivers it long after it happened.
 */
export function createGpuCollection(notes: NoteCollector): GpuCollection {
  const launches = createLaunches();
  const work = createKernelTable();
  let fromGraphs = 0;
  const waits: WaitEvent[] = [];
  const clocks: ClockEvent[] = [];
  const devices = new Map<number, GpuDevice>();
  const states: GpuStateEvent[] = [];
  const losses = new Map<number, number>();

  const add = (event: GpuEvent): void => {
    switch (event.kind) {
      case "launch":
        launches.add(event);
        return;
      case "gpu_work":
        work.add(executed(event));
        if (event.graph !== null) fromGraphs++;
        return;
      case "wait":
        waits.push(event);
        return;
      case "clock":
        clocks.push(event);
        return;
      case "device":
        devices.set(event.index, deviceOf(event));
        return;
      case "gpu_state":
        states.push(event);
        return;
      case "loss":
        losses.set(event.reason, (losses.get(event.reason) ?? 0) + event.count);
    }
  };

  const finish = (recordingFinished: boolean, unwritten: number): GpuWork => {
    const clock = createGpuClock(clocks);
    let withoutLaunch = 0;
    const kernels = work.finish((correlation, gpuStartNs, gpuEndNs) => {
      const { startNs, endNs } = spanOnTimeline(clock, gpuStartNs, gpuEndNs);
      const launch = correlation === null ? null : launches.find(correlation);
      if (launch === null) {
        withoutLaunch++;
        return { launchThreadId: null, launchNs: startNs, startNs, endNs };
      }
      launches.answer(launch);
      return {
        launchThreadId: launches.threadId(launch),
        launchNs: launches.timeNs(launch),
        startNs,
        endNs,
      };
    });
    const lost = [...losses.values()].reduce((sum, count) => sum + count, unwritten);
    // In a whole recording, launches that were captured into a graph are no loss.
    const mayBeCaptured = recordingFinished && fromGraphs > 0;
    const launchesWithoutKernels = mayBeCaptured
      ? 0
      : Math.max(0, launches.unanswered() - (recordingFinished ? lost : 0));
    const synchronizations = waits.flatMap((event): SynchronizationInstance[] => {
      const kind = WAIT_KINDS.get(event.type);
      const call = launches.find(event.correlation);
      if (kind === undefined || call === null) return [];
      return [
        {
          kind,
          threadId: launches.threadId(call),
          callNs: launches.timeNs(call),
          ...spanOnTimeline(clock, event.startGpuNs, event.endGpuNs),
          stream: kind === "stream" ? event.cudaStream : null,
        },
      ];
    });
    gpuNotes({
      states,
      losses,
      unwritten,
      withoutLaunch,
      launchesWithoutKernels,
    }).forEach(notes.add);
    return {
      kernels,
      synchronizations: synchronizations.sort((a, b) => a.startNs - b.startNs),
      devices: [...devices.values()].sort((a, b) => a.index - b.index),
    };
  };

  return { add, finish };
}

const deviceOf = ({ index, name, computeCapability }: DeviceEvent): GpuDevice => ({
  index,
  name,
  computeCapability,
});

const executed = (event: GpuWorkEvent): ExecutedKernel => ({
  kind: event.activity,
  name: event.name,
  device: event.device,
  context: event.context,
  stream: event.cudaStream,
  startNs: event.startGpuNs,
  endNs: event.endGpuNs,
  correlation: event.correlation,
  ...(event.bytes !== null && { bytes: event.bytes }),
  ...(event.graph !== null && { graph: event.graph }),
});
