/**
 * Makes text from profiles safe to show, because names are untrusted input. Control characters could control a
 * terminal, and direction marks could make a line read differently.
 */
export function printable(text: string): string {
  return text.replaceAll(unprintable(), (character) => NAMED[character] ?? codePoint(character));
}

/** Like `printable`, but keeps line breaks and tabs. */
export const visibleControls = (text: string): string =>
  text.replaceAll(unprintable(), (character) =>
    character === "\n" || character === "\t" ? character : printable(character),
  );

/**
 * A text as a terminal may be sent it, whatever foreign text it quotes: control characters are shown, and so are marks
 * of direction. Only line breaks, tabs and colours stay.
 */
export const forTerminal = (text: string): string =>
  text.replaceAll(COLOUR_OR_CONTROL, (found) =>
    found.length > 1 || found === "\n" || found === "\t" ? found : printable(found),
  );

/** Sends text to a stream; to a terminal, only as `forTerminal` allows. */
export const writerTo = (stream: {
  readonly isTTY?: boolean;
  readonly write: (text: string) => unknown;
}): ((text: string) => void) =>
  stream.isTTY === true
    ? (text) => void stream.write(forTerminal(text))
    : (text) => void stream.write(text);

/**
 * Like `printable`, but different texts stay different: a backslash that could be read as the start of such an escape
 * is escaped itself.
 */
export const escapedControls = (text: string): string =>
  printable(text.replaceAll(/\\(?=u\{[0-9a-f]+\}|[nrt])/g, BACKSLASH));

const BACKSLASH = "\\u{5c}";

/**
 * A label for people: never empty, and at most `limit` characters. A longer one is shortened in the middle, since a
 * library's kernels often differ only in their last template arguments.
 */
export function printableLabel(text: string, limit = 120): string {
  if (text === "") return "(no name)";
  // Quotes show blanks at the ends, which would be invisible or look like indentation.
  const quote = text.trim() === text ? "" : '"';
  const characters = [...text];
  if (characters.length <= limit) return `${quote}${printable(text)}${quote}`;
  const kept = Math.floor(limit / 3);
  const [start, end] = [characters.slice(0, limit - kept - 1), characters.slice(-kept)];
  return `${quote}${printable(start.join(""))}…${printable(end.join(""))}${quote}`;
}

/**
 * Controls, formatting marks (direction, joiners, tags), lone surrogates, line separators. A function, since classes of Unicode
 * take their time when an expression is made, and most programs show nothing that needs it.
 */
const unprintable = () => /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** An escape sequence that sets colours and weights (SGR), a control character, a mark of direction. */
const COLOUR_OR_CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
  /\u001b\[[\d;]*m|[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const codePoint = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
