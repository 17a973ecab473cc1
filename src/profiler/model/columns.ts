/**
 * Millions of numbers in typed arrays: columns that grow, an index from ids to rows, and lists longer than one array
 * may be.
 */

type NumberArray = Uint8Array | Uint32Array | Float64Array;

/** Numbers by row. Rows that were never set are `absent`; after the last row set, they take no memory. */
export interface Column {
  readonly get: (row: number) => number;
  readonly set: (row: number, value: number) => void;
}

/** Small: each process has its own columns, and most processes have few regions. */
const FIRST_ROWS = 64;
/**
 * Rows per block. Only the first block grows by being copied: doubling a column of millions would leave
 * as much garbage as it has rows.
 */
const BLOCK_BITS = 16;
const BLOCK_ROWS = 1 << BLOCK_BITS;
const IN_BLOCK = BLOCK_ROWS - 1;

/**
 * Creates an empty column. A block whose rows are all equal, such as the device of most kernels, takes no memory
 * either.
 *
 * @param make creates an array of that many zeros
 * @param absent NaN, or a number that marks a missing value
 */
export function createColumn(make: (rows: number) => NumberArray, absent = 0): Column {
  /** Undefined while the first `counts` rows of a block are all `alike`, and its others absent. */
  const blocks: (NumberArray | undefined)[] = [];
  const counts: number[] = [];
  const alike: number[] = [];
  const blockOf = (rows: number): NumberArray => {
    const block = make(rows);
    if (absent !== 0) block.fill(absent);
    return block;
  };
  /** Makes room for a row in its block. */
  const grow = (row: number): NumberArray => {
    const wanted = row >>> BLOCK_BITS;
    const previousBlock = blocks[wanted];
    const rows =
      wanted > 0
        ? BLOCK_ROWS
        : Math.min(
            BLOCK_ROWS,
            Math.max(FIRST_ROWS, 2 * (previousBlock?.length ?? counts[0] ?? 0), row + 1),
          );
    const block = blockOf(rows);
    if (previousBlock === undefined) block.fill(alike[wanted] ?? absent, 0, counts[wanted]);
    else block.set(previousBlock);
    blocks[wanted] = block;
    return block;
  };
  /** Whether the value needs no array: it continues the block's run of equal values, or is absent. */
  const isAlike = (row: number, value: number): boolean => {
    const wanted = row >>> BLOCK_BITS;
    while (blocks.length <= wanted) {
      blocks.push(undefined);
      counts.push(0);
      alike.push(absent);
    }
    const index = row & IN_BLOCK;
    const count = counts[wanted] ?? 0;
    if (index < count) return Object.is(value, alike[wanted]);
    if (index === count && (count === 0 || Object.is(value, alike[wanted]))) {
      // Rounded as an array would store it.
      if (count === 0) [alike[wanted] = absent] = make(1).fill(value);
      counts[wanted] = count + 1;
      return true;
    }
    return Object.is(value, absent);
  };
  return {
    get(row) {
      const number = row >>> BLOCK_BITS;
      const block = blocks[number];
      if (block !== undefined) return block[row & IN_BLOCK] ?? absent;
      return (row & IN_BLOCK) < (counts[number] ?? 0) ? (alike[number] ?? absent) : absent;
    },
    set(row, value) {
      let block = blocks[row >>> BLOCK_BITS];
      const index = row & IN_BLOCK;
      if (block === undefined) {
        if (isAlike(row, value)) return;
        block = grow(row);
      } else if (index >= block.length) {
        if (Object.is(value, absent)) return;
        block = grow(row);
      }
      block[index] = value;
    },
  };
}

export const bytes = (rows: number): Uint8Array => new Uint8Array(rows);
export const words = (rows: number): Uint32Array => new Uint32Array(rows);
export const doubles = (rows: number): Float64Array => new Float64Array(rows);

/** Numbers ids (such as correlation ids of API calls) from 0, in order of first appearance. */
export interface IdIndex {
  /** @returns the id's number; a new id gets the next one */
  readonly add: (id: number) => number;
  readonly find: (id: number) => number | null;
  readonly size: () => number;
}

/**
 * Ids mostly count up, so that a column by id is the smallest possible index. An id goes there if the column then has
 * at most this many rows per id; all others go to a hash table.
 */
const ROWS_PER_ID = 4;
/** The size of a column's block, which is allocated as a whole. */
const FIRST_BLOCK_ROWS = 1 << 16;

const FIRST_SLOTS = 2048;
/** Slots per cache line of 64 bytes, as a power of two. */
const LINE_BITS = 4;
const IN_LINE = (1 << LINE_BITS) - 1;

/** A hash table with open addressing, never more than half full; an entry is 1 + a number, or 0. */
type Slots = Uint32Array;

/** The slot of an id, or the free one where it belongs. */
function slotOf(slots: Slots, ids: Column, id: number): number {
  const mask = slots.length - 1;
  // Neighbouring ids share a cache line. Since ids need not have neighbours, Fibonacci hashing chooses the line.
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
  /** 1 + a number, by id; 0 for ids without a row. */
  const numbers = createColumn(words);
  /** Ids in the hash table, by number. */
  const ids = createColumn(words);
  let slots: Slots = new Uint32Array(FIRST_SLOTS);
  let hashed = 0;
  let size = 0;
  const mayHaveRow = (id: number): boolean => id < FIRST_BLOCK_ROWS + ROWS_PER_ID * (size + 1);
  /** 1 + a number; 0 for an unknown id. */
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

/**
 * A list for millions of elements. Unlike an array it is never copied as it grows, which would leave as much garbage as
 * it has elements.
 */
export interface LongList<T> {
  readonly length: () => number;
  /** Undefined beyond the end. */
  readonly at: (index: number) => T | undefined;
  readonly push: (element: T) => void;
}

const LIST_BLOCK_BITS = 13;
const BLOCK_LENGTH = 1 << LIST_BLOCK_BITS;

export function createLongList<T>(): LongList<T> {
  const blocks: T[][] = [];
  let last: T[] = [];
  let length = 0;
  return {
    length: () => length,
    at: (index) => blocks[index >>> LIST_BLOCK_BITS]?.[index & (BLOCK_LENGTH - 1)],
    push(element) {
      if (length++ % BLOCK_LENGTH === 0) {
        last = [];
        blocks.push(last);
      }
      last.push(element);
    },
  };
}
