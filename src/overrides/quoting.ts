import type { Quote } from "./ast.ts";

/**
 * Quotes and escapes of the override language. Inside quotes only backslashes that stand before a
 * quote mean anything: an odd number escapes it, and each pair stands for one. All other
 * backslashes are themselves.
 */

/** The text of a quoted token, quotes included, without its quotes and escapes. */
export function unquote(token: string): string {
  const quote = token.charAt(0);
  const inner = token.slice(1);
  if (!inner.includes("\\")) return inner.slice(0, -1);
  // The closing quote takes part: backslashes before it are pairs.
  return halveBackslashes(inner, quote).slice(0, -1);
}

/** The inverse of `unquote`. */
export function quoted(text: string, quote: Quote): string {
  if (!text.includes("\\") && !text.includes(quote)) return quote + text + quote;
  const pattern = quote === "'" ? BEFORE_SINGLE : BEFORE_DOUBLE;
  const doubled = `${text}${quote}`.replaceAll(pattern, "$1$1\\$2");
  // The last quote was the closing one, which is not escaped.
  return `${quote}${doubled.slice(0, -2)}${quote}`;
}

const BEFORE_SINGLE = /(\\*)(')/g;
const BEFORE_DOUBLE = /(\\*)(")/g;

function halveBackslashes(text: string, quote: string): string {
  const pattern = quote === "'" ? /(\\+)'/g : /(\\+)"/g;
  return text.replaceAll(pattern, (_, backslashes: string) => {
    const pairs = "\\".repeat(Math.floor(backslashes.length / 2));
    return pairs + quote;
  });
}

const SPECIAL = /[\\()[\]{}:=, \t]/g;

/** A string as an unquoted value: every character that means something gets a backslash. */
export const escapeUnquoted = (text: string): string => text.replaceAll(SPECIAL, "\\$&");

/** The text of an `escape` token, which is made of pairs of a backslash and a character. */
export const unescapeUnquoted = (token: string): string => token.replaceAll(/\\(.)/gs, "$1");
