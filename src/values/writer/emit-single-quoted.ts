import {
  append,
  BEST_WIDTH,
  breakLine,
  type Output,
  type ScalarRole,
  startLine,
} from "./output.ts";

/**
 * Single quotes: `'` is doubled, a line break is written twice (a single one would be folded into a
 * space) and long lines are folded at single spaces, but not at the first and last character.
 */
export function emitSingleQuoted(
  out: Output,
  text: string,
  length: number,
  indent: number,
  role: ScalarRole,
): void {
  const doubled = text.includes("'") ? text.replaceAll("'", "''") : text;
  const width = length + doubled.length - text.length;
  if (!/[ \n\x85\u2028\u2029]/.test(text) || (out.column + width < BEST_WIDTH && !hasBreak(text))) {
    append(out, `'${doubled}'`, width + 2);
    return;
  }
  append(out, "'");
  const parts = doubled.split(/( +|[\n\x85\u2028\u2029]+)/);
  for (const [index, part] of parts.entries()) {
    const foldable =
      role === "value" && index > 0 && !(index === 1 && parts[0] === "") && !isLast(parts, index);
    if (hasBreak(part)) emitBreaks(out, part, indent);
    else if (part === " " && foldable && out.column > BEST_WIDTH) startLine(out, indent);
    else append(out, part, [...part].length);
  }
  append(out, "'");
}

/** The last part of a split is what follows the last separator, and may be empty. */
const isLast = (parts: readonly string[], index: number): boolean =>
  index === parts.length - 1 || (index === parts.length - 2 && parts[index + 1] === "");

function emitBreaks(out: Output, breaks: string, indent: number): void {
  if (breaks.startsWith("\n")) breakLine(out);
  for (const lineBreak of breaks) breakLine(out, lineBreak);
  startLine(out, indent);
}

const hasBreak = (text: string): boolean => /[\n\x85\u2028\u2029]/.test(text);
