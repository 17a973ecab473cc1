/** A part of a timeline: what was going on between two times. */
import { counterBetween } from "../analysis/program-numbers.ts";
import type { CounterSeries } from "../model/timeline.ts";
import type { Timeline } from "./query-types.ts";

export interface SliceRequest {
  /** Milliseconds since the start of the run; null for the start and the end of the run. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** The maximum number of events; those that began first are kept. */
  readonly limit: number;
}

/** Times are milliseconds since the start of the run. */
export type SliceEvent = Timeline["events"][number];

export interface Slice {
  /** In order of their starts. */
  readonly events: readonly SliceEvent[];
  /** The number of events between the two times. */
  readonly total: number;
  /** The recorded duration of the run. */
  readonly spanMs: number;
}

/** Keeps those events of many that start first, without holding all. */
export function firstEvents<Event>(limit: number, startOf: (event: Event) => number) {
  let kept: Event[] = [];
  const first = (): readonly Event[] => {
    kept = kept.sort((a, b) => startOf(a) - startOf(b)).slice(0, limit);
    return kept;
  };
  return {
    add(event: Event): void {
      kept.push(event);
      if (kept.length > 2 * Math.max(LEAST_KEPT, limit)) first();
    },
    first,
  };
}

/** Sorting few events for each new one would take long. */
const LEAST_KEPT = 1000;

/** What a row of a slice is called: that of a thread, with the name that the program gives it. */
export const threadRow = (pid: number, id: number, name: string | undefined): string =>
  `process ${pid}, thread ${id}${name === undefined ? "" : ` (${name})`}`;

/** Values of a counter between two times; null if it had none. It has too many samples to name each. */
export function counterValues(
  series: CounterSeries,
  fromNs: number,
  toNs: number,
): CounterValues | null {
  const found = toNs < fromNs ? null : counterBetween(series, fromNs, toNs);
  if (found === null) return null;
  const { name, unit, samples, min, mean, max } = found;
  return {
    ...{ kind: "counter", name, counter: { unit, samples, min, mean, max } },
    startNs: Math.max(fromNs, series.timesNs[0] ?? fromNs),
    endNs: toNs,
  };
}

interface CounterValues extends Pick<SliceEvent, "kind" | "name" | "counter"> {
  readonly startNs: number;
  readonly endNs: number;
}

/** The row of a counter that belongs to no thread. */
export const counterRow = (pid: number, domain: string): string =>
  `process ${pid}${domain === "" ? "" : `, ${domain}`}`;
