/** The time of a region's threads by what they did, from samples and from the clocks of threads. Times in ms. */
import { printableLabel } from "../../foundation/text/printable.ts";
import type {
  NCUProfileRegion,
  RegionThreads,
  ThreadState,
  ThreadTime,
} from "../model/document.ts";

/** What threads wait for. */
export type Wait = Exclude<ThreadState, "running" | "unknown"> | "processor";

export interface WaitTime {
  readonly wait: Wait;
  readonly ms: number;
  /** The number of samples; 0 for the processor: what its queue takes looks as if the thread ran. */
  readonly samples: number;
}

export interface ThreadActivity {
  readonly samples: number;
  /** The longest first. */
  readonly waits: readonly WaitTime[];
  /** Samples for which the system did not say what the thread waits for. */
  readonly unknown: number;
  /** Parts of the processor time of all calls; null if too little of it is known. */
  readonly kernel: KernelTime | null;
  /** The mean time for which a thread keeps its processor; null if too little of it is known. */
  readonly sliceMs: number | null;
  /** Processor time of child processes, per time of the region; null if too little of it is known. */
  readonly childrenShare: number | null;
}

/** What the threads did in the kernel. */
interface KernelTime {
  readonly systemMs: number;
  readonly pageFaults: number;
}

/** Fewer samples say nothing about shares. */
export const LEAST_SAMPLES = 8;
/** The least part of a region's time that numbers of the system must cover. */
const LEAST_COUNTED = 0.3;

/** A thread whose processor time is limited (cgroups) waits in no queue that the system counts: more is missing from its samples. */
const MOST_MISSED = 2;

/** How often the threads of a region were sampled. */
export const samplesOf = ({
  thread_samples: sampled,
}: Pick<NCUProfileRegion, "thread_samples">): number =>
  Object.values(sampled?.states ?? {}).reduce((sum, count) => sum + count, 0);

/**
 * @param wallMs the region's own time, of all its calls
 * @param cpuMs the processor time in it; null if not measured
 * @returns null if threads were not sampled, or too rarely
 */
export function threadTimeOf(
  region: Pick<NCUProfileRegion, "thread_samples">,
  wallMs: number | null,
  cpuMs: number | null,
): ThreadActivity | null {
  const { thread_samples: sampled } = region;
  if (sampled === undefined || wallMs === null || wallMs === 0) return null;
  const { running = 0, unknown = 0, ...waiting } = sampled.states;
  const samples = samplesOf(region);
  if (samples < LEAST_SAMPLES) return null;
  const counted = sampled.counted_ms;
  const isCounted = counted >= wallMs * LEAST_COUNTED;
  const seenMs = (count: number) => (count / samples) * wallMs;
  const waitMs = cpuMs === null ? wallMs : Math.max(0, wallMs - cpuMs);
  const seenWaitMs = Math.max(seenMs(samples - running), Number.MIN_VALUE);
  // Where we get a processor depends on who has them: when we look, threads run, or wait, more often than at other times. Their
  // clocks know better how long they did, and samples what they waited for.
  const queueMs =
    isCounted && sampled.slices > 0
      ? Math.min(waitMs, (sampled.queued_ms / counted) * wallMs)
      : null;
  const isQueueKnown =
    queueMs !== null && (cpuMs === null || waitMs - queueMs <= seenWaitMs * MOST_MISSED);
  const queuedMs = isQueueKnown
    ? queueMs
    : cpuMs === null
      ? 0
      : Math.max(0, seenMs(running) - cpuMs);
  const seenScale = (waitMs - (isQueueKnown ? queueMs : 0)) / seenWaitMs;
  const scale = isQueueKnown && cpuMs !== null ? seenScale : Math.min(1, seenScale);
  const msOf = (count: number) => seenMs(count) * scale;
  const waits: WaitTime[] = Object.entries(waiting).map(([wait, count]) => ({
    wait: wait as keyof typeof waiting,
    ms: msOf(count),
    samples: count,
  }));
  return {
    samples,
    waits: [...waits, { wait: "processor" as const, ms: queuedMs, samples: 0 }].sort(
      (a, b) => b.ms - a.ms,
    ),
    unknown,
    kernel: isCounted
      ? {
          systemMs: Math.min((sampled.system_ms / counted) * wallMs, cpuMs ?? wallMs),
          pageFaults: Math.round(
            ((sampled.minor_page_faults + sampled.major_page_faults) / counted) * wallMs,
          ),
        }
      : null,
    sliceMs:
      isCounted && cpuMs !== null && sampled.slices > 0
        ? ((cpuMs / wallMs) * counted) / sampled.slices
        : null,
    childrenShare: isCounted ? sampled.children_cpu_ms / counted : null,
  };
}

// Threads by name.

export const isMainThread = ({ process_id, thread_id }: ThreadTime): boolean =>
  process_id === thread_id;

const MOST_NAME = 60;

/** What these threads are called: as the program names them, with the numbers that the timeline has, too. */
export function threadNames({ listed }: RegionThreads): (thread: ThreadTime) => string {
  const isOfSeveral = new Set(listed.map(({ process_id }) => process_id)).size > 1;
  return (thread) => {
    const { process_id, thread_id, name } = thread;
    const isMain = isMainThread(thread);
    const shownName = name === undefined ? "" : ` ${printableLabel(name, MOST_NAME)}`;
    const number = name === undefined ? ` ${thread_id}` : ` (${thread_id})`;
    const what = isMain ? "the main thread" : `thread${shownName}${number}`;
    return isOfSeveral ? `${what} of process ${process_id}` : what;
  };
}
