/**
 * Splits a key into its components: `a.b`, `a[b]`, `[a].b` and mixtures of them. A leading or
 * doubled dot gives empty components, and text between a bracket and the next dot or bracket is
 * dropped: the rules are OmegaConf's, which never refuses a key here.
 */
export function splitKey(key: string): readonly string[] {
  if (!key.includes("[")) return key.split(".");
  const head = HEAD.exec(key)?.[0] ?? "";
  const components = head.split(".");
  if (components.at(-1) === "" && key[head.length] === "[") components.pop();
  for (const [, dotted, bracketed] of key.slice(head.length).matchAll(REST))
    components.push(dotted || bracketed || "");
  return components;
}

const HEAD = /^\.*[^.[]*/;
/** Only \n ends a line for Python. */
const REST = /\.([^.[]*)|\[([^\n]*?)\]/g;
