/** The tables of a comparison: changed times, the use of the GPU, the configuration. */

import { plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Cell,
  type Field,
  numeral,
  type Table,
  type Tone,
  tableOf,
} from "../../pages/blocks.ts";
import { pathLines } from "../model/region-path.ts";
import { pairedInterval, shownHalf } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
  changedKernels,
  countNotes,
  mainTime,
  overallTimes,
  regionLines,
  totalName,
  VERDICTS,
  waterfallOf,
} from "./comparison.ts";
import type {
  Change,
  ConfigDifference,
  KernelChange,
  RegionChange,
  Verdict,
} from "./comparison-types.ts";
import type { GpuFact, GpuFacts } from "./gpu-facts.ts";

/** A region, a kernel or the whole report. */
export interface ChangeRow {
  readonly name: Cell;
  /** Absent if neither report has the time. */
  readonly change: Change | undefined;
  /** Counts that differ, e.g. `calls 3 -> 6`. */
  readonly counts: string;
}

const ofChange =
  (cell: (change: Change) => Cell) =>
  ({ change }: ChangeRow): Cell =>
    change === undefined ? "" : cell(change);

const FIELDS = {
  a: { title: "A ms", format: "ms", priority: 2, cell: ofChange(({ a }) => a) },
  b: { title: "B ms", format: "ms", priority: 2, cell: ofChange(({ b }) => b) },
  change: {
    title: "Change ms",
    format: "change_ms",
    priority: 4,
    cell: ofChange((change) => ({
      kind: "measured",
      value: change.delta,
      uncertainty: shownHalf(change),
    })),
  },
  relative: {
    title: "%",
    format: "change_percent",
    priority: 3,
    cell: ofChange((change) => {
      const interval = pairedInterval(change);
      const value = change.relative;
      return interval === null ? value : { kind: "measured", value, uncertainty: null, interval };
    }),
  },
  verdict: { title: "", cell: ofChange(({ verdict }) => VERDICTS[verdict]) },
  /** The verdict, which is the most important column. */
  verdictAndCounts: {
    title: "",
    priority: 5,
    cell: ({ change, counts }) => {
      const short = change === undefined ? "" : VERDICTS[change.verdict];
      const text = [short, counts].filter((part) => part !== "").join(", ");
      return { kind: "two_lengths", text, short };
    },
  },
} as const satisfies Readonly<Record<string, Field<ChangeRow>>>;

/** `wide`: counts have their own column; the lower the priority, the further left a column is on a narrow page. */
const LAYOUTS = {
  markdown: [FIELDS.a, FIELDS.b, FIELDS.change, FIELDS.relative, FIELDS.verdict],
  terminal: [FIELDS.a, FIELDS.b, FIELDS.change, FIELDS.relative, FIELDS.verdictAndCounts],
  page: [
    { ...FIELDS.a, priority: 4 },
    { ...FIELDS.b, priority: 5 },
    { ...FIELDS.change, priority: 3 },
    { ...FIELDS.relative, priority: 1 },
    { ...FIELDS.verdict, title: "Verdict", priority: 2, tinted: true },
  ],
} as const satisfies Readonly<Record<string, readonly Field<ChangeRow>[]>>;

const COUNTS: Field<ChangeRow> = {
  title: "Counts",
  priority: 6,
  prose: true,
  cell: ({ counts }) => counts,
};

/** @param title title of the first column */
export function changeTable(
  title: string,
  rows: Iterable<ChangeRow>,
  layout: keyof typeof LAYOUTS,
  { withCounts = false } = {},
): Table {
  const fields: readonly Field<ChangeRow>[] = [
    { title, cell: ({ name }) => name },
    ...LAYOUTS[layout],
    ...(withCounts ? [COUNTS] : []),
  ];
  return tableOf(fields, rows, ({ change }) => TONES[change?.verdict ?? "same"]);
}

const TONES: Readonly<Record<Verdict, Tone>> = {
  more: "worse",
  less: "better",
  same: "minor",
  unclear: "doubtful",
  added: "new",
  removed: "new",
  left_out: "minor",
};

/** Maximum length of the path of a region, in characters. */
const MAX_PATH = 240;

/** @param shown some of the comparison's regions */
export function* regionRows(
  reports: ReportComparison,
  shown: readonly RegionChange[] = reports.regions,
): Generator<ChangeRow> {
  const time = mainTime(reports);
  const lineOf = pathLines(reports.regions);
  for (const { region, level, label } of regionLines(shown, reports.regions)) {
    const path = level === 0 ? {} : { path: printableLabel(lineOf(region), MAX_PATH) };
    yield {
      name: { kind: "label", text: label, level, ...path },
      change: region.changes[time],
      counts: countNotes(region.changes, reports, region.runs),
    };
  }
}

/** The whole report: regions overlap, so their sum is a different number. */
export const totalRow = (reports: ReportComparison): ChangeRow => ({
  name: totalName(reports),
  change: reports.totals[mainTime(reports)],
  counts: "",
});

/** All times of the whole report, the compared one first. */
export const overallTable = (
  reports: ReportComparison,
  layout: "markdown" | "terminal" | "page",
): Table =>
  changeTable(
    "Overall",
    overallTimes(reports).map(({ name, change }) => ({ name, change, counts: "" })),
    layout,
  );

interface WaterfallRow {
  readonly label: string;
  readonly ms: number;
  readonly uncertainty: number | null;
  readonly verdict: Verdict | null;
}

/**
 * Empty if the whole cannot be divided.
 * @param most maximum number of rows of regions
 */
export function waterfallTable(reports: ReportComparison, most: number): readonly Table[] {
  const waterfall = waterfallOf(reports, most);
  if (waterfall === null) return [];
  const { a, parts, others, rest } = waterfall;
  const row = (label: string, ms: number): WaterfallRow => ({
    label,
    ms,
    uncertainty: null,
    verdict: null,
  });
  const rows: readonly WaterfallRow[] = [
    ...parts,
    ...(others === null ? [] : [row(`${plural(others.count, "other region")}`, others.ms)]),
    ...(rest === null ? [] : [row(rest.label, rest.ms)]),
  ];
  return [
    tableOf<WaterfallRow>(
      [
        {
          title: "Contributed, without regions inside",
          short: "Contributed",
          cell: ({ label }) => ({ kind: "label", text: label, level: 0, isPath: true }),
        },
        {
          title: "Change ms",
          format: "change_ms",
          priority: 2,
          cell: ({ ms: value, uncertainty }) => ({ kind: "measured", value, uncertainty }),
        },
        {
          title: "% of A",
          format: "change_percent",
          cell: ({ ms }) => (a === 0 ? null : ms / a),
        },
        { title: "", cell: ({ verdict }) => (verdict === null ? "" : VERDICTS[verdict]) },
      ],
      rows,
      ({ verdict }) => (verdict === null ? undefined : TONES[verdict]),
    ),
  ];
}

/** Kernels that changed, the largest difference first; those whose names differ only in numbers share a row. */
export const changedKernelRows = (reports: ReportComparison): readonly ChangeRow[] =>
  pairedRows(changedKernels(reports), reports);

/**
 * All kernels in the same form.
 * @param nameLimit maximum length of a name, in characters
 */
export const allKernelRows = (reports: ReportComparison, nameLimit: number) =>
  pairedRows(reports.kernels, reports, nameLimit);

function pairedRows(
  kernels: readonly KernelChange[],
  reports: ReportComparison,
  nameLimit?: number,
): readonly ChangeRow[] {
  if (reports.kernel_pairs.length === 0) return kernelRows(kernels, reports, nameLimit);
  const paired = new Set(
    reports.kernel_pairs.flatMap(({ kind, a, b }) => [...a, ...b].map((name) => `${kind} ${name}`)),
  );
  const size = ({ change }: ChangeRow) => Math.abs((change?.b ?? 0) - (change?.a ?? 0));
  const alone = kernels.filter(({ kind, kernel_name }) => !paired.has(`${kind} ${kernel_name}`));
  const pairs = reports.kernel_pairs.map(({ name, a, b, changes }): ChangeRow => {
    const names = a.length === 1 && b.length === 1 ? [] : [`names ${a.length} -> ${b.length}`];
    const counts = countNotes(changes, reports);
    return {
      name: printableLabel(name, nameLimit),
      change: changes["total_ms"],
      counts: ["other shapes", ...names, ...(counts === "" ? [] : [counts])].join(", "),
    };
  });
  return [...kernelRows(alone, reports, nameLimit), ...pairs].sort((x, y) => size(y) - size(x));
}

/** @param nameLimit maximum length of a name, in characters */
const kernelRows = (
  kernels: readonly KernelChange[],
  reports: ReportComparison,
  nameLimit?: number,
): readonly ChangeRow[] =>
  kernels.map(({ kernel_name, changes }) => ({
    name: printableLabel(kernel_name, nameLimit),
    change: changes["total_ms"],
    counts: countNotes(changes, reports),
  }));

// How the GPU was used.

interface FactRow {
  readonly name: Cell;
  /** Absent in a row that names the subject of the following rows. */
  readonly fact?: GpuFact;
}

const factField = (
  title: string,
  priority: number,
  textOf: (fact: GpuFact) => string,
): Field<FactRow> => ({
  title,
  align: "right",
  priority,
  cell: ({ fact }) => (fact === undefined ? "" : [numeral(textOf(fact))]),
});

const FACT_FIELDS: readonly Field<FactRow>[] = [
  factField("A", 2, ({ a }) => a),
  factField("B", 0, ({ b }) => b),
  factField("Change", 1, ({ change }) => change),
];

/** The changed facts are shown below their region or kernel. */
export const factTree = (title: string, all: readonly GpuFacts[]): Table =>
  tableOf<FactRow>(
    [{ title, cell: ({ name }) => name }, ...FACT_FIELDS],
    all.flatMap(({ label, facts }) => [
      { name: label },
      ...facts.map(
        (fact): FactRow => ({
          name: { kind: "label", text: fact.name, level: 1 },
          fact,
        }),
      ),
    ]),
  );

interface FactTitles {
  /** The heading of the column of regions or kernels. */
  readonly name: string;
  /** The heading of the column of facts. */
  readonly what: string;
  /** Whether each row repeats the name, so that rows can be sorted. */
  readonly repeats: boolean;
}

/** The changed facts are shown beside their region or kernel. */
export const factTable = (
  { name: title, what, repeats }: FactTitles,
  all: readonly GpuFacts[],
): Table =>
  tableOf<FactRow>(
    [
      { title, cell: ({ name }) => name },
      { title: what, cell: ({ fact }) => fact?.name ?? "" },
      ...FACT_FIELDS,
    ],
    all.flatMap(({ label, facts }) =>
      facts.map(
        (fact, index): FactRow => ({
          name: index === 0 || repeats ? printableLabel(label) : "",
          fact,
        }),
      ),
    ),
  );

/** @param cellOf the cell of a value, or of null for a key that a configuration does not have */
export const configTable = (
  config: NonNullable<Comparison["config"]>,
  cellOf: (value: string | null) => Cell,
): Table =>
  tableOf<ConfigDifference>(
    [
      { title: "Key", cell: ({ key }) => printableLabel(key) },
      { title: "A", cell: ({ a }) => cellOf(a) },
      { title: "B", cell: ({ b }) => cellOf(b) },
    ],
    config,
  );
