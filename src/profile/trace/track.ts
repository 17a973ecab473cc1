import { createColumn, doubles, words } from "../columns/column.ts";

/** What happened on a thread or a stream, in columns: there can be millions of intervals. */
export interface Track {
  readonly name: string;
  /** @param name number of the interval's name */
  readonly add: (name: number, startNs: number, endNs: number) => void;
  /** The latest end; 0 without any. */
  readonly lastNs: () => number;
  readonly inOrder: () => IntervalOrder;
}

/** By start; of those that start together, the longest first. Places count from 0. */
export interface IntervalOrder {
  readonly length: number;
  readonly name: (place: number) => number;
  readonly startNs: (place: number) => number;
  readonly endNs: (place: number) => number;
}

export function createTrack(name: string): Track {
  const names = createColumn(words);
  const starts = createColumn(doubles);
  const ends = createColumn(doubles);
  let length = 0;
  let lastNs = 0;
  const compare = (a: number, b: number): number =>
    starts.get(a) - starts.get(b) || ends.get(b) - ends.get(a);
  const isInOrder = (): boolean => {
    for (let row = 1; row < length; row++) if (compare(row - 1, row) > 0) return false;
    return true;
  };
  return {
    name,
    add(number, startNs, endNs) {
      const row = length++;
      names.set(row, number);
      starts.set(row, startNs);
      ends.set(row, endNs);
      lastNs = Math.max(lastNs, endNs);
    },
    lastNs: () => lastNs,
    inOrder() {
      if (isInOrder()) return { length, name: names.get, startNs: starts.get, endNs: ends.get };
      // Not of a typed array: its sort takes no advantage of rows that are nearly in order.
      const rows = Array.from({ length }, (_, row) => row).sort(compare);
      const rowAt = (place: number): number => rows[place] ?? 0;
      return {
        length,
        name: (place) => names.get(rowAt(place)),
        startNs: (place) => starts.get(rowAt(place)),
        endNs: (place) => ends.get(rowAt(place)),
      };
    },
  };
}
