/**
 * The ranges of one process in columns: there can be millions, and an object for each would take ten times as much
 * memory.
 */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { bytes, createColumn, doubles, words } from "./columns.ts";
import {
  createRangeReplay,
  type RangeHandlers,
  type RangeInstance,
  type RangeKind,
  type RangeStream,
} from "./timeline.ts";

export interface RecordedRanges {
  /** In order of their start: all, or the first ones where `allRanges` is present. */
  readonly ranges: readonly RangeInstance[];
  /** How many those are. */
  readonly kept: number;
  /** Made again for each reader, where there are too many to keep an object for each. */
  readonly allRanges?: RangeStream;
  readonly startNs: number;
  readonly endNs: number;
}

/** Ranges of a file of which objects are kept, as of a run. */
export const MOST_KEPT = 500_000;

export interface RangeTable {
  readonly add: (range: Omit<RangeInstance, "id">) => void;
  /**
   * Once, after all.
   *
   * @param most ranges of which objects are kept, some 250 bytes each
   */
  readonly finish: (most: number) => RecordedRanges;
}

/** No thread, in a column of threads. */
const NONE = 0xffffffff;
const KINDS: readonly RangeKind[] = ["push_pop", "start_end"];

export function createRangeTable(): RangeTable {
  let length = 0;
  const texts = createTexts();
  const kinds = createColumn(bytes);
  const domains = createColumn(words);
  const names = createColumn(words);
  const threads = createColumn(doubles);
  const endThreads = createColumn(doubles, NONE);
  const starts = createColumn(doubles);
  const ends = createColumn(doubles, Number.NaN);
  const categories = createColumn(doubles, Number.NaN);
  const colors = createColumn(doubles, Number.NaN);
  const payloads = createColumn(doubles, Number.NaN);
  /** What few have: integers that no number holds, and numbers of structures. */
  const large = new Map<number, number | bigint>();
  const values = new Map<number, RangeInstance["values"]>();

  const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);
  const endOf = (row: number): number => {
    const ns = ends.get(row);
    return Number.isNaN(ns) ? Number.POSITIVE_INFINITY : ns;
  };

  const add: RangeTable["add"] = (range) => {
    const row = length++;
    const { payload, endThreadId, endNs } = range;
    kinds.set(row, KINDS.indexOf(range.kind));
    domains.set(row, texts.numberOf(range.domain));
    names.set(row, texts.numberOf(range.name));
    threads.set(row, range.threadId);
    endThreads.set(row, endThreadId ?? NONE);
    starts.set(row, range.startNs);
    ends.set(row, endNs ?? Number.NaN);
    categories.set(row, range.category ?? Number.NaN);
    colors.set(row, range.color ?? Number.NaN);
    if (typeof payload === "bigint" || Number.isNaN(payload)) large.set(row, payload ?? Number.NaN);
    else payloads.set(row, payload ?? Number.NaN);
    if (range.values !== undefined) values.set(row, range.values);
  };

  const rangeAt = (row: number, id: number): RangeInstance => {
    const endThread = endThreads.get(row);
    const ofRow = values.get(row);
    return {
      id,
      kind: KINDS[kinds.get(row)] ?? "push_pop",
      domain: texts.at(domains.get(row)),
      name: texts.at(names.get(row)),
      threadId: threads.get(row),
      category: orNull(categories.get(row)),
      color: orNull(colors.get(row)),
      payload: large.get(row) ?? orNull(payloads.get(row)),
      ...(ofRow !== undefined && { values: ofRow }),
      startNs: starts.get(row),
      endNs: orNull(ends.get(row)),
      endThreadId: endThread === NONE ? null : endThread,
    };
  };

  return {
    add,
    finish(most) {
      // Of ranges that start at the same time the longer one was opened first.
      const compare = (a: number, b: number): number => {
        const order = starts.get(a) - starts.get(b);
        if (order !== 0) return order;
        const [endA, endB] = [endOf(a), endOf(b)];
        return endA === endB ? 0 : endB - endA;
      };
      const order = sortedRows(length, compare);
      let startNs = Number.POSITIVE_INFINITY;
      let endNs = Number.NEGATIVE_INFINITY;
      for (let row = 0; row < length; row++) {
        const start = starts.get(row);
        const end = ends.get(row);
        startNs = Math.min(startNs, start);
        endNs = Math.max(endNs, Number.isNaN(end) ? start : end);
      }
      const rangeAtPlace = (place: number) => rangeAt(order[place] ?? 0, place);
      const first = (count: number) =>
        Array.from({ length: count }, (_, place) => rangeAtPlace(place));
      const kept = Math.min(length, Math.max(0, most));
      texts.finish();
      if (kept === length) return { ranges: first(length), kept, startNs, endNs };
      const replay = (handlers: RangeHandlers) =>
        createRangeReplay(length, rangeAtPlace, handlers).until(Number.POSITIVE_INFINITY);
      const allRanges = { count: length, replay };
      return {
        // Made where they are needed, which is after regions are made of all.
        get ranges() {
          return first(kept);
        },
        ...{ kept, allRanges, startNs, endNs },
      };
    },
  };
}

/** Names and domains, each once. */
function createTexts() {
  let numbers = new Map<string, number>();
  const texts: string[] = [];
  return {
    numberOf: (text: string): number => getOrCreate(numbers, text, () => texts.push(text) - 1),
    at: (number: number): string => texts[number] ?? "",
    /** No more come: what finds them again takes more memory than they do. */
    finish(): void {
      numbers = new Map();
    },
  };
}

/** Row numbers in order; stable. */
function sortedRows(length: number, compare: (a: number, b: number) => number): Uint32Array {
  const rows = Array.from({ length }, (_, row) => row);
  let row = 1;
  while (row < length && compare(row - 1, row) <= 0) row++;
  return Uint32Array.from(row < length ? rows.sort(compare) : rows);
}
