/**
 * What the scripts of the report page and of the comparison page read: types only, shared with the browser. Numbers stand in
 * columns and text once in a table, since a report of 1,000 regions and 10,000 kernels must stay under 2 MB. Times are
 * milliseconds.
 */

import type { Column, Row } from "../../pages/blocks.ts";

/** Index into `PageData.strings`. */
export type TextIndex = number;

export interface PageData {
  readonly strings: readonly string[];
  /** The main report first; a report that repeats an earlier one is left out. */
  readonly scopes: readonly ScopeData[];
  /** The timeline; its bytes are in a separate element, `timeline`. */
  readonly timeline?: Omit<EncodedTimeline, "bytes">;
}

/** Times are nanoseconds since the first recorded event of the run. */
export interface EncodedTimeline {
  readonly endNs: number;
  readonly names: readonly string[];
  readonly rows: readonly TimelineRow[];
  /** The number of events that were left out because there were too many. */
  readonly dropped: number;
  /**
   * Base64 of the columns of each row: for each event the difference of its start from the previous one, its duration,
   * name and lane; for streams also the launching row + 1 and the time from the launch to the start.
   */
  readonly bytes: string;
}

/** One row of a timeline: a thread, stream or kind of events, with its columns. */
export interface TimelineRow {
  /** Empty if there is only one process. */
  readonly process: string;
  readonly label: string;
  readonly kind: "thread" | "stream" | "marks" | "waits" | "calls" | "counter";
  /** For a counter: its values are thousandths of the range from `min` to `max`, and stand in the column of names. */
  readonly counter?: { readonly min: number; readonly max: number; readonly unit: string };
  readonly lanes: number;
  readonly events: number;
  /** The position of its bytes, and the number of events. */
  readonly offset: number;
  readonly bytes: number;
}

export interface ScopeData {
  readonly scope: string;
  /** `GPU kernels`, `CPU operations`, …; null if none were recorded. */
  readonly kernelWords: string | null;
  /** Where the times of kernels come from, as the end of a heading; absent for a single run. */
  readonly kernelSource?: string;
  /** The times that widths may show, the one of the shares first. */
  readonly measures: readonly MeasureData[];
  readonly regions: RegionsData;
  readonly metrics: readonly MetricColumn[];
  /** The columns of hardware counters in tables of kernels; absent if none were measured. */
  readonly hardware?: readonly KernelColumn[];
  /** The kernels of the whole scope, then those of each region, in the order of the regions. */
  readonly kernels: readonly KernelColumns[];
  /** Notes by row of `regions`, for those that have any. */
  readonly notes: Readonly<Record<number, readonly string[]>>;
  readonly sections: Readonly<Record<number, Readonly<Record<string, unknown>>>>;
  readonly roofline: RooflineData | null;
  readonly calls: CallsData;
}

/** A time of regions that widths show. */
export interface MeasureData {
  /** `wall`, `gpu` or `kernels`, as in links. */
  readonly name: string;
  readonly title: string;
  /** Index into the columns; -1 if no region has it. */
  readonly column: number;
  /** The time that is 100 %, in ms; null if nothing was timed. */
  readonly wholeMs: number | null;
  /** The same in words; null if `wholeMs` is. */
  readonly wholeLabel: string | null;
}

/** One entry per region, depth first. */
export interface RegionsData {
  /** The name, preceded by the names of enclosing ranges that are not shown in a row. */
  readonly label: readonly TextIndex[];
  /** The row of the enclosing region; -1 for a root. */
  readonly parent: readonly number[];
  readonly columns: readonly RegionColumnData[];
  /** The column with the number of calls; -1 if unknown for all regions. */
  readonly calls: number;
  /** The rows with most time of their own. */
  readonly hot: readonly number[];
  /** The title of the column by which the table is sorted at first; null for the tree. */
  readonly order: string | null;
  readonly facts: readonly FactData[];
}

/** A column of numbers or texts; those without any value are left out. */
export interface RegionColumnData extends Column {
  /** Numbers, or indices of texts; null if not measured. */
  readonly values: NumberColumn;
  readonly isText?: true;
  /** Whether only the details of a region show it. */
  readonly isDetail?: true;
  /** Half of the 95 % interval of each value. */
  readonly uncertainty?: NumberColumn;
  /** The rows whose value is a lower bound. */
  readonly atLeast?: readonly number[];
}

/** A line of the details of a region: texts around the values of columns, shown if the first of them is known. */
export interface FactData {
  readonly title: string;
  /** One more than columns. */
  readonly texts: readonly string[];
  /** Indices; -1 for a column that was left out. */
  readonly columns: readonly number[];
}

/** The wall time of calls, for regions called more than once; the longest first. */
export interface CallsData {
  readonly rows: readonly {
    /** The row in `regions`. */
    readonly region: number;
    readonly calls: number;
    readonly min: number;
    readonly median: number;
    readonly p95: number;
    readonly max: number;
  }[];
  /** The number of regions that are left out. */
  readonly left: number;
}

export type NumberColumn = readonly (number | null)[];

export interface MetricColumn {
  readonly name: string;
  readonly unit: string;
  readonly values: NumberColumn;
}

/** A column of numbers, or of indices of texts. */
export interface KernelColumn extends Column {
  readonly isText?: true;
}

/** In descending order of time. */
export interface KernelColumns {
  readonly name: readonly TextIndex[];
  readonly device: readonly TextIndex[];
  readonly calls: readonly number[];
  readonly total: NumberColumn;
  /** The values of each column of `ScopeData.hardware`; null if none were measured. */
  readonly hardware: readonly NumberColumn[] | null;
  /** The total of the shorter kernels. */
  readonly other: { readonly rows: number; readonly calls: number; readonly total: number } | null;
}

export interface RooflineData {
  /** In bytes per second; null if unknown. */
  readonly bandwidth: number | null;
  /** In FLOP per second. */
  readonly ceilings: readonly { readonly label: string; readonly flops: number }[];
  readonly points: readonly {
    /** The row in `regions`. */
    readonly region: number;
    readonly label: string;
    /** In FLOP per byte. */
    readonly intensity: number;
    /** In FLOP per second. */
    readonly flops: number;
  }[];
}

/** The data for the script of the comparison page; the type is shared with the browser. */
export interface ComparisonPageData {
  /** The regions of both reports as trees of the compared time; null if there is nothing to draw. */
  readonly trees: TwoTrees | null;
  readonly sections: readonly PageSection[];
}

/** One entry per region of either report, depth first. */
export interface TwoTrees {
  /** The row of the enclosing region; -1 for a root. */
  readonly parent: readonly number[];
  readonly label: readonly string[];
  readonly path: readonly string[];
  readonly a: NumberColumn;
  readonly b: NumberColumn;
  /** `more`, `less`, `same`, `unclear`, `added`, `removed` or `left_out`. */
  readonly verdict: readonly string[];
  /** The change in words: `slower` and so on. */
  readonly change: readonly string[];
}

/** A table under a heading. */
export interface PageSection {
  readonly title: string;
  /** The meaning of the numbers. */
  readonly hint: string | null;
  /** Null without rows. */
  readonly table: { readonly columns: readonly Column[]; readonly rows: readonly Row[] } | null;
  /** The text below the table. */
  readonly footer: string | null;
  /** The text shown instead of a table without rows. */
  readonly empty: string;
}
