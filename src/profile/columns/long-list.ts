/** A list for millions of elements. Unlike an array it is never copied as it grows, which would leave as much garbage as it has elements. */
export interface LongList<T> {
  readonly length: () => number;
  /** Undefined beyond the end. */
  readonly at: (index: number) => T | undefined;
  readonly push: (element: T) => void;
}

const BLOCK_BITS = 13;
const BLOCK_LENGTH = 1 << BLOCK_BITS;

export function createLongList<T>(): LongList<T> {
  const blocks: T[][] = [];
  let last: T[] = [];
  let length = 0;
  return {
    length: () => length,
    at: (index) => blocks[index >>> BLOCK_BITS]?.[index & (BLOCK_LENGTH - 1)],
    push(element) {
      if (length++ % BLOCK_LENGTH === 0) {
        last = [];
        blocks.push(last);
      }
      last.push(element);
    },
  };
}
