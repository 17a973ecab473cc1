/** The calls of a region by thread, as reports have them: of a bounded number of threads, however many there are. */
import type { RegionThreads, ThreadTime } from "../../report/model/document.ts";
import type { ProcessTimeline } from "../model/timeline.ts";
import type { ThreadTallies, ThreadTally } from "./range-tally.ts";
import { describe, describeSample, type Statistics } from "./region-model.ts";

/** The threads of one process in a region. */
export interface ProcessThreads {
  readonly process: ProcessTimeline;
  readonly threads: ThreadTallies;
}

/** How many threads a report lists for a region. */
const MOST_LISTED = 16;
const NS_PER_MS = 1e6;

interface Known {
  readonly process: ProcessTimeline;
  readonly threadId: number;
  readonly tally: ThreadTally;
  readonly calls: Statistics;
}

/** Undefined for a region on one thread. */
export function threadTimes(all: readonly ProcessThreads[]): RegionThreads | undefined {
  const known = all
    .flatMap(({ process, threads }) =>
      [...threads.byThread].flatMap(([threadId, tally]): readonly Known[] => {
        const calls = describe(tally.durations);
        return calls === null ? [] : [{ process, threadId, tally, calls }];
      }),
    )
    .sort(
      (one, other) =>
        other.tally.wallNs - one.tally.wallNs ||
        one.process.pid - other.process.pid ||
        one.threadId - other.threadId,
    );
  if (known.length < 2) return undefined;
  const listed = mostTelling(known);
  const shown = new Set(listed);
  const rest = [
    ...known.filter((thread) => !shown.has(thread)).map(({ tally }) => ({ tally, count: 1 })),
    ...all.flatMap(({ threads: { others } }) =>
      others.durations.count === 0 ? [] : [{ tally: others, count: others.threadIds.size }],
    ),
  ];
  const othersCount = sumOf(rest, ({ count }) => count);
  const medianOf = (of: (thread: Known) => number) =>
    (describeSample(known.map(of))?.median ?? 0) / NS_PER_MS;
  return {
    count: listed.length + othersCount,
    listed: listed.map(threadTime),
    ...(rest.length > 0 && {
      others: {
        count: othersCount,
        invocations: sumOf(rest, ({ tally }) => tally.durations.count),
        wall_ms: sumOf(rest, ({ tally }) => tally.wallNs) / NS_PER_MS,
      },
    }),
    median_wall_ms: medianOf(({ tally }) => tally.wallNs),
    median_invocation_ms: medianOf(({ calls }) => calls.median),
  };
}

/** Those with the most time, and the one with the longest calls, which makes fewer of them where threads share a queue. */
function mostTelling(known: readonly Known[]): readonly Known[] {
  const most = known.slice(0, MOST_LISTED);
  const slowest = known.reduce((longest, thread) =>
    thread.calls.median > longest.calls.median ? thread : longest,
  );
  return most.includes(slowest) ? most : [...most.slice(0, -1), slowest];
}

function threadTime({ process, threadId, tally, calls }: Known): ThreadTime {
  const name = process.threadNames?.get(threadId);
  const { min, median, max } = calls;
  const invocations = tally.durations.count;
  return {
    process_id: process.pid,
    thread_id: threadId,
    ...(name !== undefined && name !== "" && { name }),
    invocations,
    wall_ms: tally.wallNs / NS_PER_MS,
    ...(tally.timedCalls === invocations && { cpu_ms: tally.cpuNs / NS_PER_MS }),
    invocation_wall_ms: {
      min: min / NS_PER_MS,
      median: median / NS_PER_MS,
      max: max / NS_PER_MS,
    },
  };
}

const sumOf = <Part>(parts: readonly Part[], of: (part: Part) => number): number =>
  parts.reduce((sum, part) => sum + of(part), 0);
