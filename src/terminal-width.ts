/**
 * Columns of what a person reads: `COLUMNS` where it is set, as Python's programs take it, else what
 * the terminal says. Some terminals (in CI, in containers) say that they are 0 wide.
 */
export function terminalWidth(
  env: Readonly<Record<string, string | undefined>>,
  columns: number | undefined = process.stdout.columns,
): number {
  const wanted = Number(env["COLUMNS"]);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : columns || 100;
}
