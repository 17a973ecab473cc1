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
  const halved = rewriteQuotes(inner, quote, (count) => "\\".repeat(count >> 1) + quote);
  return halved.slice(0, -1);
}

/** The inverse of `unquote`. */
export function quoted(text: string, quote: Quote): string {
  if (!text.includes("\\") && !text.includes(quote)) return quote + text + quote;
  const escaped = rewriteQuotes(text + quote, quote, (count) => {
    return `${"\\".repeat(2 * count)}\\${quote}`;
  });
  // The last quote was the closing one, which is not escaped.
  return quote + escaped.slice(0, -2) + quote;
}

/** Replaces every quote together with the backslashes before it, given their number. */
function rewriteQuotes(text: string, quote: string, rewrite: (count: number) => string): string {
  let out = "";
  let copied = 0;
  let backslashes = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === quote) {
      out += text.slice(copied, at - backslashes) + rewrite(backslashes);
      copied = at + 1;
    }
    backslashes = char === "\\" ? backslashes + 1 : 0;
  }
  return out + text.slice(copied);
}

const SPECIAL = /[\\()[\]{}:=, \t]/g;

/** A string as an unquoted value: every character that means something gets a backslash. */
export const escapeUnquoted = (text: string): string => text.replaceAll(SPECIAL, "\\$&");

/** The text of an `escape` token, which is made of pairs of a backslash and a character. */
export const unescapeUnquoted = (token: string): string => token.replaceAll(/\\(.)/gs, "$1");
