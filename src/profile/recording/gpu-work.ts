import type { KernelInstance, SynchronizationInstance } from "../timeline.ts";
import type {
  ClockEvent,
  DeviceEvent,
  GpuEvent,
  GpuStateEvent,
  GpuWorkEvent,
  LaunchEvent,
  WaitEvent,
} from "./events.ts";
import { createGpuClock } from "./gpu-clock.ts";
import { gpuNotes } from "./gpu-notes.ts";
import type { NoteCollector } from "./notes.ts";

/** What one process's GPUs did, each piece of work with the call that it came from. */
export interface GpuWork {
  /** By launch. */
  readonly kernels: readonly KernelInstance[];
  /** By start. */
  readonly synchronizations: readonly SynchronizationInstance[];
  readonly devices: readonly GpuDevice[];
}

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

/** What is kept of a LaunchEvent: there can be millions. */
type Launch = Pick<LaunchEvent, "threadId" | "timeNs" | "startsKernels">;

const waitKinds: ReadonlyMap<number, SynchronizationInstance["kind"]> = new Map([
  [1, "event"],
  [3, "stream"],
  [4, "context"],
]);

/**
 * Joins work with its launches. They come in any order: launches stand in the streams of their
 * threads, work in those of CUPTI's, and CUPTI delivers it long after it happened.
 */
export function createGpuCollection(notes: NoteCollector): GpuCollection {
  const launches = new Map<number, Launch>();
  const work: GpuWorkEvent[] = [];
  const waits: WaitEvent[] = [];
  const clocks: ClockEvent[] = [];
  const devices = new Map<number, GpuDevice>();
  const states: GpuStateEvent[] = [];
  const losses = new Map<number, number>();

  const add = (event: GpuEvent): void => {
    switch (event.kind) {
      case "launch":
        // Of two calls, the outer one, which came first, is the one the program made.
        if (!launches.has(event.correlation)) {
          const { threadId, timeNs, startsKernels } = event;
          launches.set(event.correlation, { threadId, timeNs, startsKernels });
        }
        return;
      case "gpu_work":
        work.push(event);
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
    const launchesWithoutKernels = recordingFinished ? 0 : countUnanswered(launches, work);
    const kernels = work.splice(0).map((event): KernelInstance => {
      const startNs = clock(event.startGpuNs);
      const launch = launches.get(event.correlation);
      if (launch === undefined) withoutLaunch++;
      return {
        kind: event.activity,
        name: event.name,
        ...(event.mangledName !== null && { mangledName: event.mangledName }),
        device: event.device,
        context: event.context,
        stream: event.cudaStream,
        launchThreadId: launch?.threadId ?? null,
        launchNs: launch?.timeNs ?? startNs,
        startNs,
        endNs: Math.max(startNs, clock(event.endGpuNs)),
        ...(event.bytes !== null && { bytes: event.bytes }),
        correlation: event.correlation,
        ...(event.graph !== null && { graph: event.graph }),
      };
    });
    const synchronizations = waits.flatMap((event): SynchronizationInstance[] => {
      const kind = waitKinds.get(event.type);
      const call = launches.get(event.correlation);
      if (kind === undefined || call === undefined) return [];
      const startNs = clock(event.startGpuNs);
      return [
        {
          kind,
          threadId: call.threadId,
          callNs: call.timeNs,
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

function countUnanswered(
  launches: ReadonlyMap<number, Launch>,
  work: readonly GpuWorkEvent[],
): number {
  const answered = new Set(work.map(({ correlation }) => correlation));
  let unanswered = 0;
  for (const [correlation, { startsKernels }] of launches)
    if (startsKernels && !answered.has(correlation)) unanswered++;
  return unanswered;
}
