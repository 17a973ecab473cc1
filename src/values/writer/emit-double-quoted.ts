import { append, BEST_WIDTH, type Output, type ScalarRole, startLine } from "./output.ts";

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\0", "\\0"],
  ["\x07", "\\a"],
  ["\x08", "\\b"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\v", "\\v"],
  ["\f", "\\f"],
  ["\r", "\\r"],
  ["\x1b", "\\e"],
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\x85", "\\N"],
  ["\u2028", "\\L"],
  ["\u2029", "\\P"],
]);

/** Written as they are. Characters beyond the basic plane are escaped, unlike in other styles. */
const VERBATIM = /^[\x20\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]$/;

/**
 * Double quotes with escapes. A long line is broken with `\` in front of a space or behind an
 * escape; a space that begins the next line is escaped too.
 */
export function emitDoubleQuoted(
  out: Output,
  text: string,
  indent: number,
  role: ScalarRole,
): void {
  const chars = Array.from(text);
  append(out, '"');
  // Characters from `start` on are not written yet.
  let start = 0;
  const flush = (end: number): void => {
    if (start < end) append(out, chars.slice(start, end).join(""), end - start);
    start = Math.max(start, end);
  };
  for (const [end, char] of chars.entries()) {
    if (!VERBATIM.test(char)) {
      flush(end);
      append(out, escaped(char));
      start = end + 1;
    }
    const breakable = end > 0 && end < chars.length - 1 && (char === " " || start >= end);
    if (role === "simple key" || !breakable || out.column + (end - start) <= BEST_WIDTH) continue;
    flush(end);
    append(out, "\\");
    startLine(out, indent);
    if (chars[start] === " ") append(out, "\\");
  }
  flush(chars.length);
  append(out, '"');
}

function escaped(char: string): string {
  const known = ESCAPES.get(char);
  if (known !== undefined) return known;
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
