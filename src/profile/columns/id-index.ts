import { type Column, createColumn, words } from "./column.ts";

/** Numbers ids (such as correlation ids of API calls) from 0, in order of first appearance. */
export interface IdIndex {
  /** @returns the id's number; a new id gets the next one */
  readonly add: (id: number) => number;
  readonly find: (id: number) => number | null;
  readonly size: () => number;
}

/**
 * Ids mostly count up, so that a column by id is the smallest index there is. It takes those that leave at most so
 * much of it unused; a hash table takes all others.
 */
const ROWS_PER_ID = 4;
/** Of a column's block, which is made in one piece. */
const FIRST_ROWS = 1 << 16;

const FIRST_SLOTS = 2048;
/** Slots per cache line of 64 bytes, as a power of two. */
const LINE_BITS = 4;
const IN_LINE = (1 << LINE_BITS) - 1;

/** A hash table with open addressing, never more than half full, of 1 + a number or 0. */
type Slots = Uint32Array;

/** The slot of an id, or the free one where it belongs. */
function slotOf(slots: Slots, ids: Column, id: number): number {
  const mask = slots.length - 1;
  // Neighbours are kept in one cache line. Since nothing guarantees that ids have any, Fibonacci hashing
  // chooses the line.
  const line = Math.imul(id >>> LINE_BITS, 0x9e3779b1) >>> Math.clz32(mask >>> LINE_BITS);
  let slot = (line << LINE_BITS) | (id & IN_LINE);
  for (;;) {
    const entry = slots[slot] ?? 0;
    if (entry === 0 || ids.get(entry - 1) === id) return slot;
    slot = (slot + 1) & mask;
  }
}

function larger(slots: Slots, ids: Column): Slots {
  const table = new Uint32Array(2 * slots.length);
  for (const entry of slots) if (entry !== 0) table[slotOf(table, ids, ids.get(entry - 1))] = entry;
  return table;
}

/** An index of 32-bit ids, as CUPTI's are. There can be millions: each takes 4 to 24 bytes. */
export function createIdIndex(): IdIndex {
  /** 1 + a number, by id; 0 for those that are in no row. */
  const numbers = createColumn(words);
  /** By number, of those that are in the hash table. */
  const ids = createColumn(words);
  let slots: Slots = new Uint32Array(FIRST_SLOTS);
  let hashed = 0;
  let size = 0;
  const mayHaveRow = (id: number): boolean => id < FIRST_ROWS + ROWS_PER_ID * (size + 1);
  /** 1 + a number; 0 for an id that is not known. */
  const entryOf = (id: number): number => {
    const entry = mayHaveRow(id) ? numbers.get(id) : 0;
    return entry === 0 && hashed > 0 ? (slots[slotOf(slots, ids, id)] ?? 0) : entry;
  };
  return {
    add(id) {
      const entry = entryOf(id);
      if (entry !== 0) return entry - 1;
      const isInRow = mayHaveRow(id);
      const number = size++;
      if (isInRow) {
        numbers.set(id, size);
        return number;
      }
      if (2 * ++hashed > slots.length) slots = larger(slots, ids);
      ids.set(number, id);
      slots[slotOf(slots, ids, id)] = size;
      return number;
    },
    find(id) {
      const entry = entryOf(id);
      return entry === 0 ? null : entry - 1;
    },
    size: () => size,
  };
}
