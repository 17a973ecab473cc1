/** A table as Hydra's `--info` draws it; the first row is the header. */
export function drawTable(rows: readonly (readonly string[])[], headerTail = ""): string {
  const [header = [], ...body] = rows;
  const widths = header.map((_, column) =>
    Math.max(...rows.map((row) => [...(row[column] ?? "")].length)),
  );
  const draw = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const first = draw(header) + headerTail;
  const rule = "-".repeat([...first].length);
  return [first, rule, ...body.map(draw), rule, ""].join("\n");
}

/** A title, underlined in its length. */
export const title = (text: string): string => `${text}\n${"*".repeat(text.length)}\n`;
