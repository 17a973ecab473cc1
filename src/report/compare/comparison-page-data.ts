/** What the script of a comparison's page reads; shared with the browser. Times are milliseconds. */
export interface ComparisonPageData {
  /** The kind of time. */
  readonly time: string;
  readonly regions: readonly ComparisonRow[];
  /** All regions together. */
  readonly total: ComparisonRow;
  /** What the rows of `kernels` are called. */
  readonly kernelHeading: string;
  readonly activityHeading: string;
  readonly countersHeading: string;
  readonly kernels: readonly ComparisonRow[];
  /** How the GPU was used in regions, and counters of kernels: what changed. */
  readonly activity: readonly ComparisonFact[];
  readonly counters: readonly ComparisonFact[];
  readonly config: readonly {
    readonly key: string;
    readonly a: string | null;
    readonly b: string | null;
  }[];
}

/** As text: numbers of several units, and words. */
export interface ComparisonFact {
  /** A region or a kernel. */
  readonly label: string;
  readonly name: string;
  readonly a: string;
  readonly b: string;
  readonly change: string;
}

export interface ComparisonRow {
  readonly label: string;
  readonly level: number;
  /** Where a region is, for rows outside the tree; null if the label shows it. */
  readonly path: string | null;
  readonly a: number | null;
  readonly b: number | null;
  readonly delta: number | null;
  readonly relative: number | null;
  readonly uncertainty: number | null;
  readonly verdict: string;
  /** Counts that differ, e.g. `calls 3 -> 6`: more calls explain more time. */
  readonly counts: string;
}
