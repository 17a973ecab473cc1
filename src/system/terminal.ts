/**
 * Whether a stream is shown colours: a terminal, unless `NO_COLOR` is set to something
 * (<https://no-color.org>: an empty value counts as none) or the terminal can show text only.
 */
export const takesColor = (
  { isTTY }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean => isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";

/**
 * The terminal's width in columns: `COLUMNS` if it is set, as for Python's programs, else what the
 * terminal reports. Some terminals (in CI, in containers) report a width of 0; they count as 100.
 */
export function terminalWidth(
  env: Readonly<Record<string, string | undefined>>,
  columns: number | undefined = process.stdout.columns,
): number {
  const wanted = Number(env["COLUMNS"]);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : columns || 100;
}
