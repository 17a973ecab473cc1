import type { LaunchEvent } from "./events.ts";

/** Place of a launch in its collection. */
export type LaunchIndex = number;

/**
 * The calls that gave a process's GPUs work, by correlation. There can be millions, most of which
 * are looked up once: columns of numbers take 29 bytes for each, objects in a Map took 200.
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

const FIRST_CAPACITY = 1024;

interface Columns {
  readonly correlations: Uint32Array;
  readonly threadIds: Uint32Array;
  readonly times: Float64Array;
  /** Whether kernels are expected that were not seen yet. */
  readonly pending: Uint8Array;
  /** A hash table with open addressing, never more than half full: 1 + index of a launch, or 0. */
  readonly slots: Uint32Array;
}

const columnsFor = (capacity: number): Columns => ({
  correlations: new Uint32Array(capacity),
  threadIds: new Uint32Array(capacity),
  times: new Float64Array(capacity),
  pending: new Uint8Array(capacity),
  slots: new Uint32Array(2 * capacity),
});

export function createLaunches(): Launches {
  let columns = columnsFor(FIRST_CAPACITY);
  let count = 0;

  /** Where the correlation stands in `slots`, or the free place where it belongs. */
  const slotOf = ({ slots, correlations }: Columns, correlation: number): number => {
    const mask = slots.length - 1;
    // Fibonacci hashing: correlations mostly count up, but nothing promises that.
    let slot = Math.imul(correlation, 0x9e3779b1) >>> Math.clz32(mask);
    for (;;) {
      const entry = slots[slot] ?? 0;
      if (entry === 0 || correlations[entry - 1] === correlation) return slot;
      slot = (slot + 1) & mask;
    }
  };

  const grow = (): void => {
    const larger = columnsFor(2 * columns.correlations.length);
    larger.correlations.set(columns.correlations);
    larger.threadIds.set(columns.threadIds);
    larger.times.set(columns.times);
    larger.pending.set(columns.pending);
    for (let index = 0; index < count; index++)
      larger.slots[slotOf(larger, larger.correlations[index] ?? 0)] = index + 1;
    columns = larger;
  };

  return {
    add: ({ correlation, threadId, timeNs, startsKernels }) => {
      if (count === columns.correlations.length) grow();
      const slot = slotOf(columns, correlation);
      if (columns.slots[slot] !== 0) return;
      columns.correlations[count] = correlation;
      columns.threadIds[count] = threadId;
      columns.times[count] = timeNs;
      columns.pending[count] = startsKernels ? 1 : 0;
      columns.slots[slot] = ++count;
    },
    find: (correlation) => {
      const entry = columns.slots[slotOf(columns, correlation)] ?? 0;
      return entry === 0 ? null : entry - 1;
    },
    threadId: (launch) => columns.threadIds[launch] ?? 0,
    timeNs: (launch) => columns.times[launch] ?? 0,
    answer: (launch) => {
      columns.pending[launch] = 0;
    },
    unanswered: () => {
      let unanswered = 0;
      for (let index = 0; index < count; index++) unanswered += columns.pending[index] ?? 0;
      return unanswered;
    },
  };
}
