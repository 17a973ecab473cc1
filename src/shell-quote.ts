/** A text as one word of a shell: between single quotes, where nothing has a meaning but they. */
export const shellQuote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A command line with the variables that it is given beside its own, as a shell takes it. */
export const shellCommand = (
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string =>
  [
    ...Object.entries(env).map(([name, value]) => `${name}=${shellQuote(value)}`),
    ...argv.map(shellQuote),
  ].join(" ");
