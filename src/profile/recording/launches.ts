import { bytes, createColumn, doubles, words } from "../columns/column.ts";
import { createIdIndex } from "../columns/id-index.ts";
import type { LaunchEvent } from "./events.ts";

/** Place of a launch in its collection. */
export type LaunchIndex = number;

/**
 * The calls that gave a process's GPUs work, by correlation. There can be millions, most of which
 * are looked up once: columns of numbers take some 30 bytes for each, objects in a Map took 200.
 */
export interface Launches {
  /** Of two calls with one correlation, the outer one, which came first, is the program's. */
  readonly add: (event: LaunchEvent) => void;
  readonly find: (correlation: number) => LaunchIndex | null;
  readonly threadId: (launch: LaunchIndex) => number;
  readonly timeNs: (launch: LaunchIndex) => number;
  /** Work of this launch was seen. */
  readonly answer: (launch: LaunchIndex) => void;
  /** How many should have started kernels of which none was seen. */
  readonly unanswered: () => number;
}

export function createLaunches(): Launches {
  const index = createIdIndex();
  const threadIds = createColumn(words);
  const times = createColumn(doubles);
  /** Whether kernels are expected that were not seen yet. */
  const pending = createColumn(bytes);
  return {
    add: ({ correlation, threadId, timeNs, startsKernels }) => {
      const before = index.size();
      const launch = index.add(correlation);
      if (launch < before) return;
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
