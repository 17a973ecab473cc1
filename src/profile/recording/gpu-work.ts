import { WAIT_KINDS } from "../cupti-names.ts";
import type { KernelInstance, SynchronizationInstance } from "../timeline.ts";
import type {
  ClockEvent,
  DeviceEvent,
  GpuEvent,
  GpuStateEvent,
  GpuWorkEvent,
  WaitEvent,
} from "./events.ts";
import { createGpuClock } from "./gpu-clock.ts";
import { gpuNotes } from "./gpu-notes.ts";
import { createLaunches } from "./launches.ts";
import type { NoteCollector } from "./notes.ts";

/** What one process's GPUs did, each piece of work with the call that it came from. */
export interface GpuWork {
  /** By launch. */
  readonly kernels: readonly KernelInstance[];
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
  /** Once, after all events. */
  readonly finish: (recordingFinished: boolean) => GpuWork;
}

/** Made when its record is read: its times are the GPU's and nothing is known of its launch yet. */
type KernelDraft = { -readonly [K in keyof KernelInstance]: KernelInstance[K] } & {
  correlation: number;
};

/**
 * Joins work with its launches. They come in any order: launches stand in the streams of their
 * threads, work in those of CUPTI's, and CUPTI delivers it long after it happened.
 */
export function createGpuCollection(notes: NoteCollector): GpuCollection {
  const launches = createLaunches();
  let work: KernelDraft[] = [];
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
        work.push(draftOf(event));
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

  const finish = (recordingFinished: boolean): GpuWork => {
    const clock = createGpuClock(clocks);
    let withoutLaunch = 0;
    const kernels = work;
    work = [];
    for (const kernel of kernels) {
      const startNs = clock(kernel.startNs);
      const launch = launches.find(kernel.correlation);
      kernel.startNs = startNs;
      kernel.endNs = Math.max(startNs, clock(kernel.endNs));
      if (launch === null) {
        withoutLaunch++;
        kernel.launchNs = startNs;
      } else {
        kernel.launchThreadId = launches.threadId(launch);
        kernel.launchNs = launches.timeNs(launch);
        launches.answer(launch);
      }
    }
    const lost = [...losses.values()].reduce((sum, count) => sum + count, 0);
    // In a whole recording, launches that were captured into a graph are no loss.
    const mayBeCaptured = recordingFinished && kernels.some(({ graph }) => graph !== undefined);
    const launchesWithoutKernels = mayBeCaptured
      ? 0
      : Math.max(0, launches.unanswered() - (recordingFinished ? lost : 0));
    const synchronizations = waits.flatMap((event): SynchronizationInstance[] => {
      const kind = WAIT_KINDS.get(event.type);
      const call = launches.find(event.correlation);
      if (kind === undefined || call === null) return [];
      const startNs = clock(event.startGpuNs);
      return [
        {
          kind,
          threadId: launches.threadId(call),
          callNs: launches.timeNs(call),
          startNs,
          endNs: Math.max(startNs, clock(event.endGpuNs)),
          stream: kind === "stream" ? event.cudaStream : null,
        },
      ];
    });
    gpuNotes({
      states,
      losses,
      withoutLaunch,
      launchesWithoutKernels,
    }).forEach(notes.add);
    return {
      kernels: kernels.sort((a, b) => a.launchNs - b.launchNs),
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

/**
 * Literals of few shapes, with all their fields from the start: a spread that may be empty, or a
 * field that comes later, makes an object several times as large and as slow.
 */
function draftOf(event: GpuWorkEvent): KernelDraft {
  const { activity: kind, name, mangledName, device, context, cudaStream: stream } = event;
  const { startGpuNs: startNs, endGpuNs: endNs, bytes, correlation, graph } = event;
  const launchThreadId = null;
  const launchNs = Number.NaN;
  let draft: KernelDraft;
  if (bytes !== null) {
    draft = {
      kind,
      name,
      device,
      context,
      stream,
      launchThreadId,
      launchNs,
      startNs,
      endNs,
      correlation,
      bytes,
    };
  } else if (mangledName !== null) {
    draft = {
      kind,
      name,
      mangledName,
      device,
      context,
      stream,
      launchThreadId,
      launchNs,
      startNs,
      endNs,
      correlation,
    };
  } else {
    draft = {
      kind,
      name,
      device,
      context,
      stream,
      launchThreadId,
      launchNs,
      startNs,
      endNs,
      correlation,
    };
  }
  if (graph !== null) draft.graph = graph;
  return draft;
}
