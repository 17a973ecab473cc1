type NumberArray = Uint8Array | Uint32Array | Float64Array;

/** Numbers by row. Rows that were never set are `absent`; after the last row set, they take no memory. */
export interface Column {
  readonly get: (row: number) => number;
  readonly set: (row: number, value: number) => void;
}

const FIRST_ROWS = 1024;
/**
 * Rows per block. Only the first block grows by being copied: doubling a column of millions would leave
 * as much garbage as it has rows.
 */
const BLOCK_BITS = 16;
const BLOCK_ROWS = 1 << BLOCK_BITS;
const IN_BLOCK = BLOCK_ROWS - 1;

/**
 * Creates an empty column. A block whose rows are all equal, such as the device of most kernels, takes no
 * memory either.
 *
 * @param make creates an array of that many zeros
 * @param absent NaN, or a number that stands for no value
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
    const before = blocks[wanted];
    const rows =
      wanted > 0
        ? BLOCK_ROWS
        : Math.min(
            BLOCK_ROWS,
            Math.max(FIRST_ROWS, 2 * (before?.length ?? counts[0] ?? 0), row + 1),
          );
    const block = blockOf(rows);
    if (before === undefined) block.fill(alike[wanted] ?? absent, 0, counts[wanted]);
    else block.set(before);
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
    const at = row & IN_BLOCK;
    const count = counts[wanted] ?? 0;
    if (at < count) return Object.is(value, alike[wanted]);
    if (at === count && (count === 0 || Object.is(value, alike[wanted]))) {
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
      const at = row & IN_BLOCK;
      if (block === undefined) {
        if (isAlike(row, value)) return;
        block = grow(row);
      } else if (at >= block.length) {
        if (Object.is(value, absent)) return;
        block = grow(row);
      }
      block[at] = value;
    },
  };
}

export const bytes = (rows: number): Uint8Array => new Uint8Array(rows);
export const words = (rows: number): Uint32Array => new Uint32Array(rows);
export const doubles = (rows: number): Float64Array => new Float64Array(rows);
