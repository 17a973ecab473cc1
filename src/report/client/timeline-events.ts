/** The events of a row of the timeline, decoded when they are first needed. */
import { lowerBound } from "../../foundation/system/lower-bound.ts";
import type { EncodedTimeline, TimelineRow } from "../view/page-data.ts";

/** Events that do not overlap, so that both starts and ends are sorted. */
export interface Lane {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly names: Uint32Array;
  /** For streams: the row that launched each event, or -1 if unknown, and the time of the launch. */
  readonly launchRows: Int32Array | null;
  readonly launches: Float64Array | null;
}

export interface TimelineEvents {
  readonly rows: readonly TimelineRow[];
  lanesOf(row: number): readonly Lane[];
}

export function openTimeline(
  { rows }: Pick<EncodedTimeline, "rows">,
  bytes: Uint8Array,
): TimelineEvents {
  const decoded = new Map<number, readonly Lane[]>();
  return {
    rows,
    lanesOf(index) {
      const row = rows[index];
      if (row === undefined) return [];
      let lanes = decoded.get(index);
      if (lanes === undefined) {
        lanes = decodeRow(row, bytes.subarray(row.offset, row.offset + row.bytes));
        decoded.set(index, lanes);
      }
      return lanes;
    },
  };
}

function decodeRow({ lanes, events, kind }: TimelineRow, bytes: Uint8Array): readonly Lane[] {
  const isStream = kind === "stream";
  let offset = 0;
  const next = (): number => {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[offset++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  };
  const starts = new Float64Array(events);
  const ends = new Float64Array(events);
  const names = new Uint32Array(events);
  const places = new Uint16Array(events);
  const launchRows = isStream ? new Int32Array(events) : null;
  const launches = isStream ? new Float64Array(events) : null;
  const counts = new Uint32Array(lanes);
  let previous = 0;
  for (let event = 0; event < events; event++) {
    previous += next();
    starts[event] = previous;
    ends[event] = previous + next();
    names[event] = next();
    if (launchRows === null || launches === null) places[event] = next();
    else {
      const row = next() - 1;
      launchRows[event] = row;
      launches[event] = row < 0 ? previous : previous - next();
    }
    const lane = places[event] ?? 0;
    counts[lane] = (counts[lane] ?? 0) + 1;
  }
  if (lanes === 1) return [{ starts, ends, names, launchRows, launches }];
  return Array.from({ length: lanes }, (_, lane): Lane => {
    const count = counts[lane] ?? 0;
    const newLane: Lane = {
      starts: new Float64Array(count),
      ends: new Float64Array(count),
      names: new Uint32Array(count),
      launchRows: null,
      launches: null,
    };
    let to = 0;
    for (let event = 0; event < events; event++) {
      if (places[event] !== lane) continue;
      newLane.starts[to] = starts[event] ?? 0;
      newLane.ends[to] = ends[event] ?? 0;
      newLane.names[to] = names[event] ?? 0;
      to++;
    }
    return newLane;
  });
}

/** The visible parts of a lane between two times; events within one pixel are combined. */
export function* visible(
  lane: Lane,
  fromNs: number,
  toNs: number,
  nsPerPixel: number,
): Generator<{
  readonly event: number;
  /** The index of the next event that is not part of it. */
  readonly next: number;
  readonly folded: boolean;
  readonly endNs: number;
}> {
  const { starts, ends } = lane;
  let event = lowerBound(ends, fromNs);
  // A mark ends where it starts.
  while (event > 0 && (ends[event - 1] ?? 0) >= fromNs) event--;
  while (event < starts.length) {
    const start = starts[event] ?? 0;
    if (start > toNs) return;
    const end = ends[event] ?? 0;
    if (end - start >= nsPerPixel) {
      yield { event, next: event + 1, folded: false, endNs: end };
      event++;
      continue;
    }
    let next = Math.max(event + 1, lowerBound(starts, start + nsPerPixel));
    // Only the last event that begins in this pixel can be long: it is drawn separately with its name.
    const last = next - 1;
    if (last > event && (ends[last] ?? 0) - (starts[last] ?? 0) >= nsPerPixel) next = last;
    yield { event, next, folded: next > event + 1, endNs: ends[next - 1] ?? end };
    event = next;
  }
}
