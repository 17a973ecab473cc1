export interface TableOptions {
  /** Removes secrets from cells before columns are laid out: the layout would show their length. */
  readonly redact?: ((text: string) => string) | undefined;
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
  { headerTail = "", redact }: TableOptions & { readonly headerTail?: string } = {},
): readonly string[] {
  const rows = redact === undefined ? cells : cells.map((row) => row.map(redact));
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

/** Pads by characters, because `padEnd` counts UTF-16 units. */
const padded = (cell: string, width: number): string => cell + " ".repeat(width - [...cell].length);

/** A title, underlined to its length. */
export const titleLines = (text: string, underline = "*"): readonly string[] => [
  text,
  underline.repeat(text.length),
];
