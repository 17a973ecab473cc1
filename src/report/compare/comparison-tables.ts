/** The tables of a comparison: of changed times, of the use of the GPU, and of the configuration. */
import { printableLabel } from "../../text/printable.ts";
import { pathLines } from "../model/region-path.ts";
import { type Cell, type Field, numeral, type Table, type Tone, tableOf } from "../view/blocks.ts";
import type { Change, Verdict } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
  type ConfigDifference,
  countNotes,
  mainTime,
  regionLines,
  VERDICTS,
} from "./comparison.ts";
import type { GpuFact, GpuFacts } from "./gpu-facts.ts";
import type { KernelChange } from "./kernel-changes.ts";
import type { RegionChange } from "./region-change.ts";

/** A region, a kernel or the whole report. */
export interface ChangeRow {
  readonly name: Cell;
  /** Absent where neither report has the time. */
  readonly change: Change | undefined;
  /** Counts that differ, e.g. `calls 3 -> 6`. */
  readonly counts: string;
}

const ofChange =
  (cell: (change: Change) => Cell) =>
  ({ change }: ChangeRow): Cell =>
    change === undefined ? "" : cell(change);

const FIELDS = {
  a: { title: "A ms", format: "ms", priority: 4, cell: ofChange(({ a }) => a) },
  b: { title: "B ms", format: "ms", priority: 2, cell: ofChange(({ b }) => b) },
  change: {
    title: "Change ms",
    format: "change_ms",
    priority: 3,
    cell: ofChange(({ delta, uncertainty }) => ({ kind: "measured", value: delta, uncertainty })),
  },
  relative: {
    title: "%",
    format: "change_percent",
    cell: ofChange(({ relative }) => relative),
  },
  verdict: { title: "", cell: ofChange(({ verdict }) => VERDICTS[verdict]) },
  /** The verdict is what matters most. */
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
    FIELDS.a,
    { ...FIELDS.b, priority: 5 },
    FIELDS.change,
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

/** @param title of the first column */
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

/** Characters of the path of a region. */
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
      counts: countNotes(region.changes, reports),
    };
  }
}

/** All regions together: they overlap, so that their sum is another number. */
export const totalRow = (reports: ReportComparison): ChangeRow => ({
  name: "all",
  change: reports.totals[mainTime(reports)],
  counts: "",
});

/** @param nameLimit characters of a name */
export const kernelRows = (
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
  /** Absent in a row that names what the next ones are about. */
  readonly fact?: GpuFact;
}

const factField = (
  title: string,
  priority: number,
  of: (fact: GpuFact) => string,
): Field<FactRow> => ({
  title,
  align: "right",
  priority,
  cell: ({ fact }) => (fact === undefined ? "" : [numeral(of(fact))]),
});

const FACT_FIELDS: readonly Field<FactRow>[] = [
  factField("A", 2, ({ a }) => a),
  factField("B", 0, ({ b }) => b),
  factField("Change", 1, ({ change }) => change),
];

/** What changed stands below the region or kernel. */
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
  /** Of the regions or kernels. */
  readonly name: string;
  /** Of what changed. */
  readonly what: string;
  /** Whether each row has the name, so that rows can be sorted. */
  readonly repeats: boolean;
}

/** What changed stands beside the region or kernel. */
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
        (fact, at): FactRow => ({
          name: at === 0 || repeats ? printableLabel(label) : "",
          fact,
        }),
      ),
    ),
  );

/** @param cellOf a value, or null for one that a configuration does not have */
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
