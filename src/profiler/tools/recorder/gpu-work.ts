/** Joins GPU work with the calls that launched it. */
import { plural } from "../../../foundation/text/plural.ts";
import { bytes, createColumn, createIdIndex, doubles, words } from "../../model/columns.ts";
import { createKernelTable, type ExecutedKernel } from "../../model/kernel-table.ts";
import { type KernelList, type SynchronizationInstance, WAIT_KINDS } from "../../model/timeline.ts";
import { createGpuClock, spanOnTimeline } from "./clocks.ts";
import type {
  ClockEvent,
  DeviceEvent,
  GpuEvent,
  GpuStateEvent,
  GpuWorkEvent,
  LaunchEvent,
  NoteCollector,
  ProgramProfilerEvent,
  WaitEvent,
} from "./events.ts";
import { lossReason } from "./format.ts";

/** The GPU work of one process, joined with its launches. */
export interface GpuWork {
  /** In order of launch. */
  readonly kernels: KernelList;
  /** In order of start. */
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
   * @param unwritten number of records that could not be written to the file
   * @param startNs start of the process
   */
  readonly finish: (recordingFinished: boolean, unwritten: number, startNs: number) => GpuWork;
}

/**
 * Joins work with its launches. They come in any order: launches are in the streams of their threads, work is in those
 * of CUPTI's, and CUPTI delivers it long after it happened.
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
  const profilers: ProgramProfilerEvent[] = [];
  let unwatchedCalls = 0;

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
        return;
      case "program_profiler":
        profilers.push(event);
        return;
      case "unwatched_calls":
        unwatchedCalls += event.count;
        return;
      case "counter_range":
      case "counter_session":
      case "counter_session_end":
      case "counter_failure":
      case "counter_tally":
      case "sampling":
        return; // read by src/profiler/tools/counters
    }
  };

  const finish = (recordingFinished: boolean, unwritten: number, startNs: number): GpuWork => {
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
    // In a complete recording, launches that were captured into a graph are not lost.
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
      profilers,
      unwatchedCalls,
      startNs,
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

/** The index of a launch in its collection. */
export type LaunchIndex = number;

/**
 * The calls that launched a process's GPU work, by correlation id. There can be millions, most of which are looked up
 * once: columns of numbers take some 30 bytes for each, objects in a Map took 200.
 */
export interface Launches {
  /** If two calls have the same correlation id, the outer one, which came first, is the program's. */
  readonly add: (event: LaunchEvent) => void;
  readonly find: (correlation: number) => LaunchIndex | null;
  readonly threadId: (launch: LaunchIndex) => number;
  readonly timeNs: (launch: LaunchIndex) => number;
  /** Marks a launch whose work was recorded. */
  readonly answer: (launch: LaunchIndex) => void;
  /** How many launches should have started kernels of which none was recorded. */
  readonly unanswered: () => number;
}

export function createLaunches(): Launches {
  const index = createIdIndex();
  const threadIds = createColumn(words);
  const times = createColumn(doubles);
  /** Whether kernels are expected that were not recorded yet. */
  const pending = createColumn(bytes);
  return {
    add: ({ correlation, threadId, timeNs, startsKernels }) => {
      const countBefore = index.size();
      const launch = index.add(correlation);
      if (launch < countBefore) return;
      threadIds.set(launch, threadId);
      times.set(launch, timeNs);
      pending.set(launch, startsKernels ? 1 : 0);
    },
    find: index.find,
    threadId: threadIds.get,
    timeNs: times.get,
    answer: (launch) => pending.set(launch, 0),
    unanswered: () => {
      let unanswered = 0;
      for (let launch = 0; launch < index.size(); launch++) unanswered += pending.get(launch);
      return unanswered;
    },
  };
}

interface GpuFindings {
  readonly states: readonly GpuStateEvent[];
  /** Lost records by reason. */
  readonly losses: ReadonlyMap<number, number>;
  /** Records that found no space in the file, or came while their thread was writing others. */
  readonly unwritten: number;
  /** Work whose launch was not recorded. */
  readonly withoutLaunch: number;
  /** Launches without any recorded work that no other note explains. */
  readonly launchesWithoutKernels: number;
  /** Profilers of the program that asked for CUPTI. */
  readonly profilers: readonly ProgramProfilerEvent[];
  /** Calls that would have said so, but could not be watched. */
  readonly unwatchedCalls: number;
  /** Start of the process. */
  readonly startNs: number;
}

/** The meaning of CUPTI's result codes for what is missing in a report. */
export const CUPTI_REMEDIES: ReadonlyMap<number, string> = new Map([
  [12, "another tool already uses CUPTI in this process: ncu, nsys, or the program's own profiler"],
  [14, "this CUPTI does not match the driver; set HYDRACONF_CUPTI_PATH to another one"],
  [15, "CUPTI reaches no GPU through the driver: nvidia-smi must list one"],
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

/** Notes for readers about GPU work that is missing from the recording. */
function gpuNotes(findings: GpuFindings): readonly string[] {
  const { states, losses, unwritten, withoutLaunch, launchesWithoutKernels } = findings;
  const wasHandedOver = findings.profilers.some(({ recorderGoesOn }) => !recorderGoesOn);
  const collecting = states.some(({ failure }) => failure === null);
  const what = collecting ? "some GPU work was not recorded" : "GPU kernels were not recorded";
  const lost = (reason: number): number => losses.get(reason) ?? 0;
  return [
    ...states.flatMap(({ failure, result }) => {
      if (failure === null) return [];
      const remedy = CUPTI_REMEDIES.get(result);
      return [`${what}: ${failure}${remedy === undefined ? "" : ` (${remedy})`}`];
    }),
    ...findings.profilers.map((event) => profilerNote(event, findings.startNs)),
    ...counted(
      findings.unwatchedCalls,
      "call",
      "calls",
      "between the program's libraries cannot be watched here: if the program profiles itself, its profile may lack the GPU's work; pipeline.recorder.gpu=off leaves CUPTI to it",
    ),
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
      wasHandedOver
        ? "had not finished when the program's profiler began"
        : "had not finished when the process ended",
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

/** What a profiler of the program meant for the recording, and how to choose otherwise. */
function profilerNote(event: ProgramProfilerEvent, startNs: number): string {
  const { call, library, recorderGoesOn, timeNs } = event;
  const seconds = ((timeNs - startNs) / 1e9).toFixed(3);
  const who = library === "" ? call : `${call}, called by ${library}`;
  return recorderGoesOn
    ? `the program's own profiler was refused CUPTI after ${seconds} s (${who}), since pipeline.recorder.gpu=on keeps it: the program's profile lacks the GPU's work`
    : `GPU work was recorded for the first ${seconds} s: then the program's own profiler began (${who}), and CUPTI admits one at a time; pipeline.recorder.gpu=on keeps it for this report, at the expense of the program's profile`;
}

const counted = (count: number, singular: string, many: string, rest: string): string[] =>
  count > 0 ? [`${plural(count, singular, many)} ${rest}`] : [];
