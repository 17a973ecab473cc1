/** Numbers ids (such as correlation ids of API calls) from 0, in order of first appearance. */
export interface IdIndex {
  /** @returns the id's number; a new id gets the next one */
  readonly add: (id: number) => number;
  readonly find: (id: number) => number | null;
  readonly size: () => number;
}

const FIRST_CAPACITY = 1024;
/** Slots per cache line of 64 bytes, as a power of two. */
const LINE_BITS = 4;
const IN_LINE = (1 << LINE_BITS) - 1;

interface Table {
  readonly ids: Uint32Array;
  /** A hash table with open addressing, never more than half full: 1 + a number, or 0. */
  readonly slots: Uint32Array;
}

const tableFor = (capacity: number): Table => ({
  ids: new Uint32Array(capacity),
  slots: new Uint32Array(2 * capacity),
});

/** The slot of an id, or the free one where it belongs. */
function slotOf({ slots, ids }: Table, id: number): number {
  const mask = slots.length - 1;
  // Ids mostly count up, so neighbours are kept in one cache line. Since nothing guarantees that they do,
  // Fibonacci hashing chooses the line.
  const line = Math.imul(id >>> LINE_BITS, 0x9e3779b1) >>> Math.clz32(mask >>> LINE_BITS);
  let slot = (line << LINE_BITS) | (id & IN_LINE);
  for (;;) {
    const entry = slots[slot] ?? 0;
    if (entry === 0 || ids[entry - 1] === id) return slot;
    slot = (slot + 1) & mask;
  }
}

function larger({ ids }: Table, size: number): Table {
  const table = tableFor(2 * ids.length);
  table.ids.set(ids);
  for (let number = 0; number < size; number++)
    table.slots[slotOf(table, table.ids[number] ?? 0)] = number + 1;
  return table;
}

/** An index of 32-bit ids, as CUPTI's are. There can be millions; each takes 12 to 24 bytes. */
export function createIdIndex(): IdIndex {
  let table = tableFor(FIRST_CAPACITY);
  let size = 0;
  return {
    add(id) {
      const slot = slotOf(table, id);
      const entry = table.slots[slot] ?? 0;
      if (entry !== 0) return entry - 1;
      table.ids[size] = id;
      table.slots[slot] = ++size;
      if (size === table.ids.length) table = larger(table, size);
      return size - 1;
    },
    find(id) {
      const entry = table.slots[slotOf(table, id)] ?? 0;
      return entry === 0 ? null : entry - 1;
    },
    size: () => size,
  };
}
