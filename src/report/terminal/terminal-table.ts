/** Tables for a terminal: aligned columns without boxes, fitted to the terminal's width. */
import { fitText, padText, textWidth } from "../../text/text-width.ts";

/** A column beside the labels. */
export interface TerminalColumn<Row> {
  readonly heading: string;
  readonly side: "left" | "right";
  readonly cell: (row: Row) => string;
  /** On a narrow terminal, columns with the highest number are dropped first; those with 0 always stay. */
  readonly dispensable: number;
  /** A shorter cell to show instead of dropping the column. */
  readonly short?: (row: Row) => string;
}

/** Every row has a label, which is its first column. */
interface Labelled {
  readonly label: string;
}

export interface TerminalTable {
  readonly heading: string;
  /** One line per row, in order, without trailing blanks. */
  readonly lines: readonly string[];
}

const GAP = "  ";
/** Columns are dropped until labels have this much room, or a third of the terminal. */
const MIN_LABEL = 16;
/** A label with fewer characters would be useless, however narrow the terminal. */
const LEAST_LABEL = 8;

/** @param heading of the labels */
export function terminalTable<Row extends Labelled>(
  heading: string,
  rows: readonly Row[],
  all: readonly TerminalColumn<Row>[],
  width: number,
): TerminalTable {
  const widest = rows.reduce(
    (most, { label }) => Math.max(most, textWidth(label)),
    textWidth(heading),
  );
  const columns = fittingColumns(all, rows, width, widest);
  const widths = columns.map((column) => columnWidth(column, rows));
  const taken = widths.reduce((sum, each) => sum + GAP.length + each, 0);
  const first = Math.min(widest, Math.max(LEAST_LABEL, width - taken));
  const line = (label: string, cells: readonly string[]): string =>
    [
      padText(fitText(label, first), first, "left"),
      ...columns.map(({ side }, at) => padText(cells[at] ?? "", widths[at] ?? 0, side)),
    ]
      .join(GAP)
      .trimEnd();
  const headings = columns.map((column) => column.heading);
  return {
    heading: line(heading, headings),
    lines: rows.map((row) => {
      const cells = columns.map(({ cell }) => cell(row));
      return line(row.label, cells);
    }),
  };
}

/** Columns are shortened or left out until labels have room: all that they need, or enough of it. */
function fittingColumns<Row>(
  all: readonly TerminalColumn<Row>[],
  rows: readonly Row[],
  width: number,
  widest: number,
): readonly TerminalColumn<Row>[] {
  const wanted = Math.min(widest, Math.max(MIN_LABEL, Math.floor(width / 3)));
  const levels = [...new Set(all.map(({ dispensable }) => dispensable))].sort((a, b) => b - a);
  let columns = all;
  const taken = () =>
    columns.reduce((sum, column) => sum + GAP.length + columnWidth(column, rows), 0);
  for (const level of levels) {
    if (level === 0 || wanted + taken() <= width) break;
    columns = columns.flatMap((column) => {
      if (column.dispensable !== level) return [column];
      return column.short === undefined ? [] : [{ ...column, cell: column.short }];
    });
  }
  return columns;
}

const columnWidth = <Row>({ heading, cell }: TerminalColumn<Row>, rows: readonly Row[]): number =>
  rows.reduce((widest, row) => Math.max(widest, textWidth(cell(row))), textWidth(heading));
