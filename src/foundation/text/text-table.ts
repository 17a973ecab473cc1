/** Tables in the style of Hydra's `--info`. */
import { columnWidths, fitText, fittedWidths } from "./text-width.ts";

export interface TableOptions {
  /** Removes secrets from cells before columns are laid out: the layout would show their length. */
  readonly redact?: ((text: string) => string) | undefined;
  /** The columns of the terminal: longer cells are cut so that the table fits. Undefined for no limit. */
  readonly width?: number | undefined;
}

/** A table as Hydra's `--info` draws it; the first row is the header. */
export const drawTable = (
  rows: readonly (readonly string[])[],
  options: TableOptions = {},
): string =>
  tableLines(rows, options)
    .map((line) => `${line}\n`)
    .join("");

/**
 * The lines of a table in that format.
 *
 * @param headerTail ends the line of the header
 */
export function tableLines(
  cells: readonly (readonly string[])[],
  { headerTail = "", redact, width }: TableOptions & { readonly headerTail?: string } = {},
): readonly string[] {
  const whole = redact === undefined ? cells : cells.map((row) => row.map(redact));
  const rows = width === undefined ? whole : fitRows(whole, width);
  const [header = [], ...body] = rows;
  const widths = header.map((_, column) =>
    Math.max(...rows.map((row) => [...(row[column] ?? "")].length)),
  );
  const draw = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => padded(cell, widths[column] ?? 0)).join(" | ")} |`;
  const first = draw(header) + headerTail;
  const rule = "-".repeat([...first].length);
  return [first, rule, ...body.map(draw), rule];
}

const BORDERS = "|  |".length;
const BETWEEN = " | ".length;

function fitRows(
  rows: readonly (readonly string[])[],
  width: number,
): readonly (readonly string[])[] {
  const [header = []] = rows;
  const room = width - BORDERS - BETWEEN * Math.max(0, header.length - 1);
  const widths = fittedWidths(columnWidths(rows), header, room);
  return rows.map((row) => row.map((cell, column) => fitText(cell, widths[column] ?? 0)));
}

/** Pads by characters, because `padEnd` counts UTF-16 units. */
const padded = (cell: string, width: number): string => cell + " ".repeat(width - [...cell].length);

/** A title, underlined to its length. */
export const titleLines = (text: string, underline = "*"): readonly string[] => [
  text,
  underline.repeat(text.length),
];
