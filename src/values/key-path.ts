import { ConfigError } from "./errors.ts";

/**
 * The components of a key that is looked up.
 * @throws ConfigError `key.not_found` for one without any: a bracket that is never closed is no component (`[a`)
 */
export function keyComponents(key: string): readonly string[] {
  const components = splitKey(key);
  if (components.length > 0) return components;
  throw new ConfigError({
    code: "key.not_found",
    message: "list index out of range",
    key,
    hint: "close the bracket",
  });
}

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
  return [...components, ...partsOf(key.slice(head.length))];
}

const HEAD = /^\.*[^.[]*/;
const PART_START = /\.([^.[]*)|\[/g;

/** What stands behind dots and in brackets; a bracket without its end in the same line is none. */
function* partsOf(text: string): Generator<string> {
  const closing = nextOf("]", text);
  // Only \n ends a line for Python.
  const lineEnd = nextOf("\n", text);
  let end = 0;
  for (const { 1: dotted, index } of text.matchAll(PART_START)) {
    if (index < end) continue;
    if (dotted !== undefined) yield dotted;
    else if (closing(index) < lineEnd(index)) {
      yield text.slice(index + 1, closing(index));
      end = closing(index) + 1;
    }
  }
}

/** Where a character stands next, from places that only grow: the text is gone through once, however many ask. */
function nextOf(character: string, text: string): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) next = text.indexOf(character, from);
    if (next < 0) next = Number.POSITIVE_INFINITY;
    return next;
  };
}
