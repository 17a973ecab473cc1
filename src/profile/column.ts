type NumberArray = Uint8Array | Uint32Array | Float64Array;

/** Numbers by row. Rows that nothing was said of are `absent`, and take no memory behind the last one set. */
export interface Column {
  readonly get: (row: number) => number;
  readonly set: (row: number, value: number) => void;
}

const FIRST_ROWS = 1024;
/**
 * Rows of a block. Only the first block grows by being copied: to double a column of millions leaves
 * as much garbage as it has rows.
 */
const BLOCK_BITS = 16;
const BLOCK_ROWS = 1 << BLOCK_BITS;
const IN_BLOCK = BLOCK_ROWS - 1;

/**
 * @param make of so many elements, all zero
 * @param absent NaN, or a number that stands for no value
 */
export function createColumn(make: (rows: number) => NumberArray, absent = 0): Column {
  const blocks: NumberArray[] = [];
  const blockOf = (rows: number): NumberArray => {
    const block = make(rows);
    if (absent !== 0) block.fill(absent);
    return block;
  };
  /** Makes room for a row in its block, and in those before it. */
  const grow = (row: number): NumberArray => {
    const [first = blockOf(0)] = blocks;
    if (first.length <= row && first.length < BLOCK_ROWS) {
      const larger = blockOf(Math.min(BLOCK_ROWS, Math.max(FIRST_ROWS, 2 * first.length, row + 1)));
      larger.set(first);
      blocks[0] = larger;
    }
    const wanted = row >>> BLOCK_BITS;
    while (blocks.length <= wanted) blocks.push(blockOf(BLOCK_ROWS));
    return blocks[wanted] as NumberArray;
  };
  return {
    get: (row) => blocks[row >>> BLOCK_BITS]?.[row & IN_BLOCK] ?? absent,
    set: (row, value) => {
      let block = blocks[row >>> BLOCK_BITS];
      const at = row & IN_BLOCK;
      if (block === undefined || at >= block.length) {
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
