/**
 * What the scripts of the report page and of the comparison page read: types only, shared with the browser. Numbers stand in
 * columns and text once in a table, since a report of 1,000 regions and 10,000 kernels must stay under 2 MB. Times are
 * milliseconds.
 */

import type { Column, Row } from "./blocks.ts";

/** Index into `PageData.strings`. */
export type TextIndex = number;

export interface PageData {
  readonly strings: readonly string[];
  /** The main report first. Those that say the same as an earlier one are not repeated. */
  readonly scopes: readonly ScopeData[];
  /** What happened when; its bytes stand in an element of their own, `timeline`. */
  readonly timeline?: Omit<EncodedTimeline, "bytes">;
}

/** Times are nanoseconds since the first thing that is known of the run. */
export interface EncodedTimeline {
  readonly endNs: number;
  readonly names: readonly string[];
  readonly rows: readonly TimelineRow[];
  /** Events that are not in it, where there were too many. */
  readonly dropped: number;
  /** Base64. By row: of each event its start after that of the one before, its length, its name, its lane; of streams the launching row + 1, and how long before it started that was. */
  readonly bytes: string;
}

/** One row of a timeline: a thread, stream or kind of events, with its columns. */
export interface TimelineRow {
  /** Empty where there is one process. */
  readonly process: string;
  readonly label: string;
  readonly kind: "thread" | "stream" | "marks" | "waits" | "counter";
  /** Of a counter: its values are given as thousandths of the way from `min` to `max`, in place of names. */
  readonly counter?: { readonly min: number; readonly max: number; readonly unit: string };
  readonly lanes: number;
  readonly events: number;
  /** Where its bytes begin, and how many there are. */
  readonly offset: number;
  readonly bytes: number;
}

export interface ScopeData {
  readonly scope: string;
  /** `total`: shares refer to time of kernels; `wall`: to wall time. */
  readonly basis: "total" | "wall";
  /** What 100 % is, in ms; null where nothing was timed. */
  readonly wholeMs: number | null;
  /** What 100 % is, in words; null with `wholeMs`. */
  readonly wholeLabel: string | null;
  /** `GPU kernels`, `CPU operations`, …; null where none were recorded. */
  readonly kernelWords: string | null;
  readonly regions: RegionColumns;
  readonly metrics: readonly MetricColumn[];
  /** First the kernels of the whole scope, then those of each region, in the order of regions. */
  readonly kernels: readonly KernelColumns[];
  /** By row of `regions`, where there is anything to say. */
  readonly notes: Readonly<Record<number, readonly string[]>>;
  readonly sections: Readonly<Record<number, Readonly<Record<string, unknown>>>>;
  readonly roofline: RooflineData | null;
}

/** One entry per region, depth first; null where nothing was measured. */
export interface RegionColumns {
  /** Name, with the names around it that no row shows. */
  readonly label: readonly TextIndex[];
  /** Row of the region around it; -1 at a root. */
  readonly parent: readonly number[];
  readonly domain: readonly TextIndex[];
  readonly kind: readonly TextIndex[];
  readonly device: readonly (TextIndex | null)[];
  readonly process: readonly (number | null)[];
  readonly calls: readonly number[];
  readonly total: NumberColumn;
  readonly exclusive: NumberColumn;
  readonly wall: NumberColumn;
  readonly wallExclusive: NumberColumn;
  /** Processor time of the threads that opened the ranges; empty where it is known of no region. */
  readonly cpu: NumberColumn;
  readonly cpuExclusive: NumberColumn;
  /** Calls that were never closed; empty where there are none. */
  readonly unclosed: readonly number[];
  readonly min: NumberColumn;
  readonly median: NumberColumn;
  readonly p95: NumberColumn;
  readonly max: NumberColumn;
  readonly kernelCount: readonly number[];
  /** Parts of the wall time, in ms; empty where nothing of it is known. */
  readonly gpuBusy: NumberColumn;
  readonly gpuKernels: NumberColumn;
  readonly gpuCopies: NumberColumn;
  /** Percent of the peaks, and what of them limits; empty where nothing of it was measured. */
  readonly smShare: NumberColumn;
  readonly memoryShare: NumberColumn;
  readonly limit: readonly (TextIndex | null)[];
  /** Over repeated runs, on the clock that shares refer to; empty where there was one run. */
  readonly repeatMean: NumberColumn;
  /** Half the 95 % interval of that mean. */
  readonly repeatHalf: NumberColumn;
}

export type NumberColumn = readonly (number | null)[];

export interface MetricColumn {
  readonly name: string;
  readonly unit: string;
  readonly values: NumberColumn;
}

/** Longest first. */
export interface KernelColumns {
  readonly name: readonly TextIndex[];
  readonly device: readonly TextIndex[];
  readonly calls: readonly number[];
  readonly total: NumberColumn;
  /** What counters say about them; null where nothing of it was measured. */
  readonly hardware: HardwareColumns | null;
  /** Shorter kernels, folded. */
  readonly other: { readonly rows: number; readonly calls: number; readonly total: number } | null;
}

/** Percent; as text what limits. */
export interface HardwareColumns {
  readonly smShare: NumberColumn;
  readonly memoryShare: NumberColumn;
  readonly limit: readonly (TextIndex | null)[];
  readonly tensor: NumberColumn;
  readonly occupancy: NumberColumn;
  /** The most, and why. */
  readonly occupancyLimit: readonly (TextIndex | null)[];
}

export interface RooflineData {
  /** Bytes per second; null where unknown. */
  readonly bandwidth: number | null;
  /** FLOP per second. */
  readonly ceilings: readonly { readonly label: string; readonly flops: number }[];
  readonly points: readonly {
    /** Row of `regions`. */
    readonly region: number;
    readonly label: string;
    /** FLOP per byte. */
    readonly intensity: number;
    /** FLOP per second. */
    readonly flops: number;
  }[];
}

/** What the script of a comparison's page reads; shared with the browser. */
export interface ComparisonPageData {
  /** The regions of both as trees of the compared time; null where there is nothing to draw. */
  readonly trees: TwoTrees | null;
  readonly sections: readonly PageSection[];
}

/** One entry per region of either report, depth first. */
export interface TwoTrees {
  /** Row of the region around it; -1 at a root. */
  readonly parent: readonly number[];
  readonly label: readonly string[];
  readonly path: readonly string[];
  readonly a: NumberColumn;
  readonly b: NumberColumn;
  /** `more`, `less`, `same`, `unclear`, `added`, `removed` or `left_out`. */
  readonly verdict: readonly string[];
  /** `slower` and so on, with the change. */
  readonly change: readonly string[];
}

/** A table under a heading. */
export interface PageSection {
  readonly title: string;
  /** What the numbers are. */
  readonly hint: string | null;
  /** Null for no rows. */
  readonly table: { readonly columns: readonly Column[]; readonly rows: readonly Row[] } | null;
  /** Below the table. */
  readonly footer: string | null;
  /** What stands for a table without rows. */
  readonly empty: string;
}
