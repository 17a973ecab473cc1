/** Numbers the correlation ids of API calls from 0, in order of their first appearance. */
export interface CorrelationIndex {
  /** @returns the id's number, a new one for a new id */
  readonly add: (correlation: number) => number;
  readonly find: (correlation: number) => number | null;
  readonly size: () => number;
}

const FIRST_CAPACITY = 1024;

interface Table {
  readonly correlations: Uint32Array;
  /** A hash table with open addressing, never more than half full: 1 + a number, or 0. */
  readonly slots: Uint32Array;
}

const tableFor = (capacity: number): Table => ({
  correlations: new Uint32Array(capacity),
  slots: new Uint32Array(2 * capacity),
});

/** Where the correlation stands in `slots`, or the free place where it belongs. */
function slotOf({ slots, correlations }: Table, correlation: number): number {
  const mask = slots.length - 1;
  // Fibonacci hashing: correlations mostly count up, but nothing promises that.
  let slot = Math.imul(correlation, 0x9e3779b1) >>> Math.clz32(mask);
  for (;;) {
    const entry = slots[slot] as number;
    if (entry === 0 || correlations[entry - 1] === correlation) return slot;
    slot = (slot + 1) & mask;
  }
}

function larger({ correlations }: Table, size: number): Table {
  const table = tableFor(2 * correlations.length);
  table.correlations.set(correlations);
  for (let number = 0; number < size; number++)
    table.slots[slotOf(table, table.correlations[number] as number)] = number + 1;
  return table;
}

/** Of ids of 32 bits, as CUPTI's are. There can be millions: 12 to 24 bytes for each. */
export function createCorrelationIndex(): CorrelationIndex {
  let table = tableFor(FIRST_CAPACITY);
  let size = 0;
  return {
    add(correlation) {
      const slot = slotOf(table, correlation);
      const entry = table.slots[slot] as number;
      if (entry !== 0) return entry - 1;
      table.correlations[size] = correlation;
      table.slots[slot] = ++size;
      if (size === table.correlations.length) table = larger(table, size);
      return size - 1;
    },
    find(correlation) {
      const entry = table.slots[slotOf(table, correlation)] as number;
      return entry === 0 ? null : entry - 1;
    },
    size: () => size,
  };
}
