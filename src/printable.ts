/**
 * Text from profiles, made safe to show: names are hostile input. Control characters could drive a
 * terminal, and marks of text direction could make a line read as another.
 */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => NAMED[character] ?? codePoint(character));
}

/** The same of a text of several lines, with tabs: these stay as they are. */
export const visibleControls = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (character) =>
    character === "\n" || character === "\t" ? character : printable(character),
  );

/**
 * A label as shown to people: never empty, never longer than a line can bear. Of a longer one the end is kept, too:
 * kernels of a library differ in their last template arguments.
 */
export function printableLabel(text: string, limit = 120): string {
  if (text === "") return "(no name)";
  // Blanks at the ends would not be seen, or taken for indentation.
  const quote = text.trim() === text ? "" : '"';
  const characters = [...text];
  if (characters.length <= limit) return `${quote}${printable(text)}${quote}`;
  const kept = Math.floor(limit / 3);
  const [start, end] = [characters.slice(0, limit - kept - 1), characters.slice(-kept)];
  return `${quote}${printable(start.join(""))}…${printable(end.join(""))}${quote}`;
}

// Controls, formatting marks (direction, joiners, tags), surrogates without partner, line separators.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const codePoint = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
