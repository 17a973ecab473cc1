/**
 * Calls and time by the number of a kernel, in columns: a run can have as many names as launches, and an
 * object in a map for each name of each region takes several times as much memory.
 */
export interface KernelCounts {
  add(index: number, calls: number, ns: number): void;
  /** Each kernel once, in order of first appearance. */
  forEach(visit: (index: number, calls: number, ns: number) => void): void;
}

/** Where a kernel stands in the columns that are being put together; shared by all columns of a run. */
export interface Places {
  of: Int32Array;
}

export const createPlaces = (): Places => ({ of: new Int32Array(1024) });

function grown(places: Int32Array, index: number): Int32Array {
  const more = new Int32Array(Math.max(2 * places.length, index + 1));
  more.set(places);
  return more;
}

const FIRST_LIMIT = 64;

/** Rows are appended, and equal kernels put together whenever twice as many rows have come. */
export function createKernelCounts(places: Places): KernelCounts {
  const indices: number[] = [];
  const calls: number[] = [];
  const times: number[] = [];
  let limit = FIRST_LIMIT;

  const compact = () => {
    let kept = 0;
    for (let at = 0; at < indices.length; at++) {
      const index = indices[at] as number;
      if (index >= places.of.length) places.of = grown(places.of, index);
      const place = places.of[index] as number;
      // A place that other columns left behind does not hold this kernel.
      if (place < kept && indices[place] === index) {
        calls[place] = (calls[place] as number) + (calls[at] as number);
        times[place] = (times[place] as number) + (times[at] as number);
        continue;
      }
      places.of[index] = kept;
      indices[kept] = index;
      calls[kept] = calls[at] as number;
      times[kept] = times[at] as number;
      kept++;
    }
    indices.length = kept;
    calls.length = kept;
    times.length = kept;
    limit = Math.max(FIRST_LIMIT, 2 * kept);
  };

  return {
    add(index, count, ns) {
      if (indices.length >= limit) compact();
      indices.push(index);
      calls.push(count);
      times.push(ns);
    },
    forEach(visit) {
      compact();
      for (let at = 0; at < indices.length; at++)
        visit(indices[at] as number, calls[at] as number, times[at] as number);
    },
  };
}
