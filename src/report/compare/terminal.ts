/** A comparison for a terminal: aligned columns, the differences that matter in colour. */
import picocolors from "picocolors";
import { printableLabel } from "../../printable.ts";
import { fitText, padText, textWidth, wrapText } from "../../text-width.ts";
import { formatMs, plural } from "../numbers.ts";
import type { Change, Verdict } from "./change.ts";
import {
  type Comparison,
  countNotes,
  formatDelta,
  formatPercent,
  gateSummary,
  kernelHeading,
  kernelWord,
  mainTime,
  regionLines,
  TIME_LABELS,
  VERDICTS,
} from "./comparison.ts";

export interface TerminalOptions {
  readonly width: number;
  readonly color: boolean;
  /** Kernels listed; those that changed most. */
  readonly kernels: number;
}

export function renderComparison(
  comparison: Comparison,
  { width, color, kernels }: TerminalOptions,
): string {
  const colors = picocolors.createColors(color);
  const { names, reports, config, gates } = comparison;
  const time = mainTime(reports);
  const paint: Readonly<Record<Verdict, (text: string) => string>> = {
    more: colors.red,
    less: colors.green,
    same: colors.dim,
    unclear: colors.yellow,
    added: colors.cyan,
    removed: colors.cyan,
  };

  const regions = regionLines(reports.regions).map(({ region, level, label }) => ({
    label: `${"  ".repeat(level)}${label}`,
    change: region.changes[time],
    counts: countNotes(region.changes, reports),
  }));
  const total = { label: "all", change: reports.totals[time], counts: "" };
  const changed = reports.kernels.filter(({ changes }) => {
    const verdict = changes["total_ms"]?.verdict;
    return verdict !== undefined && verdict !== "same";
  });
  const kernelLines = changed.slice(0, kernels).map(({ kernel_name, changes }) => ({
    label: printableLabel(kernel_name),
    change: changes["total_ms"],
    counts: countNotes(changes, reports),
  }));

  const table = (heading: string, lines: readonly Line[]) =>
    drawTable(heading, lines, width).map(({ text, verdict }) =>
      verdict === null ? colors.bold(text) : paint[verdict](text),
    );
  const left = changed.length - kernelLines.length;
  const wrapped = (text: string, color: (line: string) => string = (line) => line) =>
    wrapText(text, width).map(color);
  const blocks: readonly (readonly string[])[] = [
    [`A ${printableLabel(names.a, 300)}`, `B ${printableLabel(names.b, 300)}`],
    reports.notes.flatMap((note) => wrapped(`note: ${printableLabel(note, 300)}`, colors.yellow)),
    // The notes say that nothing was measured.
    reports.regions.length === 0
      ? []
      : [
          ...table("Region", [...regions, total]),
          ...wrapped(
            `${TIME_LABELS[time]}; ± is the 95 % interval, where calls or repeated runs tell it`,
            colors.dim,
          ),
        ],
    kernelLines.length === 0 ? [] : table(kernelHeading(reports), kernelLines),
    left > 0
      ? wrapped(
          `${plural(left, `more ${kernelWord(reports)}`)} changed: --kernels ${changed.length} shows all`,
          colors.dim,
        )
      : [],
    configLines(config).flatMap((line) => wrapped(line)),
    gates.length === 0
      ? []
      : [
          ...gates.flatMap(({ outcome, reason }) =>
            wrapped(`${outcome}: ${printableLabel(reason, 300)}`, GATE_PAINT[outcome](colors)),
          ),
          // What is breached is told on standard error, too.
          ...(gates.some(({ outcome }) => outcome === "breached")
            ? []
            : wrapped(printableLabel(gateSummary(gates), 400))),
        ],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line}\n`).join(""))
    .join("\n");
}

type Colors = ReturnType<typeof picocolors.createColors>;

const GATE_PAINT = {
  passed: (colors: Colors) => colors.green,
  breached: (colors: Colors) => colors.red,
  unclear: (colors: Colors) => colors.yellow,
} as const;

interface Line {
  readonly label: string;
  readonly change: Change | undefined;
  readonly counts: string;
}

interface TableColumn {
  readonly heading: string;
  readonly side: "left" | "right";
  readonly cell: (line: Line) => string;
  /** On a narrow terminal, columns of the highest number go first. */
  readonly dispensable: number;
  /** What stands in its place then. */
  readonly short?: (line: Line) => string;
}

const ofChange = (cell: (change: Change) => string) => (line: Line) =>
  line.change === undefined ? "" : cell(line.change);
const verdictOf = ({ change }: Line): string =>
  change === undefined ? "" : VERDICTS[change.verdict];

const COLUMNS: readonly TableColumn[] = [
  { heading: "A ms", side: "right", cell: ofChange(({ a }) => formatMs(a)), dispensable: 4 },
  { heading: "B ms", side: "right", cell: ofChange(({ b }) => formatMs(b)), dispensable: 2 },
  {
    heading: "Change ms",
    side: "right",
    cell: ofChange(formatDelta),
    dispensable: 3,
    short: ofChange((change) => formatDelta({ ...change, uncertainty: null })),
  },
  {
    heading: "%",
    side: "right",
    cell: ofChange((change) => formatPercent(change.relative)),
    dispensable: 0,
  },
  {
    heading: "",
    side: "left",
    cell: (line) => [verdictOf(line), line.counts].filter((text) => text !== "").join(", "),
    dispensable: 5,
    short: verdictOf,
  },
];

const GAP = "  ";
const MIN_LABEL = 16;

/** Columns are shortened or left out until labels have room: the verdict is what matters most. */
function fittingColumns(lines: readonly Line[], width: number, widest: number) {
  const wanted = Math.min(widest, Math.max(MIN_LABEL, Math.floor(width / 3)));
  let columns = COLUMNS;
  const taken = () =>
    columns.reduce((sum, column) => sum + GAP.length + columnWidth(column, lines), 0);
  for (const least of [5, 4, 3, 2]) {
    if (wanted + taken() <= width) break;
    columns = columns.flatMap((column) => {
      if (column.dispensable !== least) return [column];
      return column.short === undefined ? [] : [{ ...column, cell: column.short }];
    });
  }
  return columns;
}

const columnWidth = ({ heading, cell }: TableColumn, lines: readonly Line[]): number =>
  lines.reduce((widest, line) => Math.max(widest, textWidth(cell(line))), textWidth(heading));

function drawTable(
  heading: string,
  lines: readonly Line[],
  width: number,
): readonly { readonly text: string; readonly verdict: Verdict | null }[] {
  const widest = lines.reduce(
    (most, { label }) => Math.max(most, textWidth(label)),
    textWidth(heading),
  );
  const columns = fittingColumns(lines, width, widest);
  const widths = columns.map((column) => columnWidth(column, lines));
  const numbers = widths.reduce((sum, each) => sum + GAP.length + each, 0);
  const first = Math.max(MIN_FIRST, Math.min(widest, width - numbers));
  const draw = (label: string, cells: readonly string[]) =>
    [
      padText(fitText(label, first), first, "left"),
      ...columns.map(({ side }, at) => padText(cells[at] ?? "", widths[at] ?? 0, side)),
    ]
      .join(GAP)
      .trimEnd();
  return [
    {
      text: draw(
        heading,
        columns.map((column) => column.heading),
      ),
      verdict: null,
    },
    ...lines.map((line) => ({
      text: draw(
        line.label,
        columns.map(({ cell }) => cell(line)),
      ),
      verdict: line.change?.verdict ?? ("same" as const),
    })),
  ];
}

/** A name of fewer signs says nothing, however narrow the terminal. */
const MIN_FIRST = 8;

const MAX_CONFIG = 30;

function configLines(config: Comparison["config"]): readonly string[] {
  if (config === null) return [];
  if (config.length === 0) return ["configurations are the same"];
  const shown = config.slice(0, MAX_CONFIG).map(({ key, a, b }) => {
    const side = (value: string | null) => (value === null ? "(none)" : printableLabel(value));
    return `  ${printableLabel(key)}: ${side(a)} -> ${side(b)}`;
  });
  const left = config.length - shown.length;
  return ["configuration:", ...shown, ...(left > 0 ? [`  and ${left} more`] : [])];
}
