/** Quotes a text as one word for a POSIX shell. Between single quotes only the quote itself is special. */
export const shellQuote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A command line as a user would type it, with the environment variables to set in front. */
export const shellCommand = (
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string =>
  [
    ...Object.entries(env).map(([name, value]) => `${name}=${shellQuote(value)}`),
    ...argv.map(shellQuote),
  ].join(" ");

/** Splits `name=value` at its first `=`; the value is undefined without one. */
export function splitAtEquals(word: string): readonly [name: string, value: string | undefined] {
  const index = word.indexOf("=");
  return index < 0 ? [word, undefined] : [word.slice(0, index), word.slice(index + 1)];
}
