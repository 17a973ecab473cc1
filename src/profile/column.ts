type NumberArray = Uint8Array | Uint32Array | Float64Array;

/** Numbers by row. Rows that nothing was said of are `absent`, and take no memory behind the last one set. */
export interface Column {
  readonly get: (row: number) => number;
  readonly set: (row: number, value: number) => void;
}

const FIRST_ROWS = 1024;

/**
 * @param make of so many elements, all zero
 * @param absent NaN, or a number that stands for no value
 */
export function createColumn(make: (rows: number) => NumberArray, absent = 0): Column {
  let values = make(0);
  const grow = (row: number): void => {
    const larger = make(Math.max(FIRST_ROWS, 2 * values.length, row + 1));
    larger.set(values);
    if (absent !== 0) larger.fill(absent, values.length);
    values = larger;
  };
  return {
    get: (row) => values[row] ?? absent,
    set: (row, value) => {
      if (row >= values.length) {
        if (Object.is(value, absent)) return;
        grow(row);
      }
      values[row] = value;
    },
  };
}

export const bytes = (rows: number): Uint8Array => new Uint8Array(rows);
export const words = (rows: number): Uint32Array => new Uint32Array(rows);
export const doubles = (rows: number): Float64Array => new Float64Array(rows);
