/**
 * Whether a stream is shown colours: a terminal, unless `NO_COLOR` is set to something
 * (<https://no-color.org>: an empty value counts as none) or the terminal can show text only.
 */
export const takesColor = (
  { isTTY }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean => isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
