/** What is wrong with the dashes of a list, where a text is refused. */

export interface WrongDash {
  readonly hint: string;
  /** Where the mistake is, which may be a line before the place that is refused. */
  readonly start: number;
  /** The number of the line that is refused. */
  readonly refusedLine: number;
}

interface Line {
  readonly number: number;
  readonly start: number;
  readonly indent: number;
  readonly text: string;
}

/**
 * The wrong dash at a line that is refused: one that is missing there or above, one without a blank, or one in another column than the
 * dashes of its list.
 *
 * @param offset in the line
 */
export function wrongDash(text: string, offset: number): WrongDash | undefined {
  const lines = linesUpTo(text, offset);
  const refused = lines.pop();
  const mistake = refused && mistakeAt(refused, lines);
  return mistake && { ...mistake, refusedLine: refused.number };
}

type Mistake = Omit<WrongDash, "refusedLine">;

/** @param lines above it */
function mistakeAt(refused: Line, lines: readonly Line[]): Mistake | undefined {
  const above = lines.findLast(({ indent }) => indent <= refused.indent);
  if (!isItem(refused))
    return above !== undefined && isItem(above) && above.indent === refused.indent
      ? missingDash(refused)
      : undefined;
  if (above !== undefined && above.indent === refused.indent) {
    const [, glued] = /^-(\w.*)$/.exec(above.text) ?? [];
    if (glued !== undefined)
      return { start: above.start, hint: `a blank follows the dash: write \`- ${glued}\`` };
    const first = withoutDash(lines, refused.indent);
    return first && missingDash(first);
  }
  const last = lines.at(-1);
  return last !== undefined && isItem(last) && last.indent !== refused.indent
    ? {
        start: refused.start,
        hint: `the dashes of a list stand in one column: put this one below that of line ${last.number}`,
      }
    : undefined;
}

/** The first line that interrupts a list of this column. */
function withoutDash(lines: readonly Line[], column: number): Line | undefined {
  let first: Line | undefined;
  for (const line of lines.toReversed()) {
    if (line.indent > column) continue;
    if (line.indent < column) return undefined;
    if (isItem(line)) return first;
    first = line;
  }
  return undefined;
}

const missingDash = ({ start, text }: Line): Mistake => ({
  start,
  hint: `a dash is missing: write \`- ${text}\``,
});

const isItem = ({ text }: Line): boolean => /^-(?:\s|$)/.test(text);

/** The lines with content, up to the one of the offset. */
function linesUpTo(text: string, offset: number): Line[] {
  const found: Line[] = [];
  let [number, begin] = [1, 0];
  for (const line of text.split("\n")) {
    if (begin > offset) break;
    const content = line.trim();
    const indent = line.length - line.trimStart().length;
    if (content !== "" && !content.startsWith("#"))
      found.push({ number, start: begin + indent, indent, text: content.replace(/\s+#.*$/, "") });
    begin += line.length + 1;
    number++;
  }
  return found;
}
