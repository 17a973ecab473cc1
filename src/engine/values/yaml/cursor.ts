/** The scanner's input: classes of characters, the position in the text, and errors that point there. */

import { ConfigError, type ErrorCode } from "../errors.ts";
import { type FileOrigin, lineColumn, type SourceText } from "../origin.ts";

/**
 * The character classes of PyYAML's scanner, over UTF-16 code units. The scanner works on a text
 * with a NUL appended (other NULs were refused before), so `END` is the end of the text.
 */
export const END = 0;

export const TAB = 0x09;
export const SPACE = 0x20;

/** YAML 1.1's line breaks, which include NEL and the two Unicode separators. */
export const isBreak = (c: number): boolean =>
  c === 0x0a || c === 0x0d || c === 0x85 || c === 0x2028 || c === 0x2029;

export const isBreakOrEnd = (c: number): boolean => c === END || isBreak(c);

export const isSpaceBreakOrEnd = (c: number): boolean => c === SPACE || isBreakOrEnd(c);

/** Characters between tokens: white space with tabs, line breaks, the end. */
export const isBlank = (c: number): boolean => c === SPACE || c === TAB || isBreakOrEnd(c);

export const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;

export const isHexDigit = (c: number): boolean =>
  isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66);

/** Letters of anchors, aliases, directives and tag handles: ASCII only. */
export const isWordCharacter = (c: number): boolean =>
  isDigit(c) || (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || c === 0x2d || c === 0x5f;

/** `,` `[` `]` `{` `}` */
export const isFlowIndicator = (c: number): boolean =>
  c === 0x2c || c === 0x5b || c === 0x5d || c === 0x7b || c === 0x7d;

/** A position in a text that the scan functions advance: the only mutable state they share. */
export interface Cursor {
  readonly source: SourceText;
  /** The source text with a NUL appended. */
  readonly text: string;
  /** Whether the text is read as by libyaml. */
  readonly libyaml: boolean;
  pos: number;
  /** Number of line breaks passed so far. */
  line: number;
  /** Offset of column 0 of the current line. */
  lineStart: number;
}

export function createCursor(source: SourceText, libyaml = false): Cursor {
  // A byte order mark is skipped and takes no column.
  const start = source.text.charCodeAt(0) === 0xfeff ? 1 : 0;
  return { source, text: `${source.text}\0`, libyaml, pos: start, line: 0, lineStart: start };
}

/** Indentation is measured in columns; only ASCII characters, of one unit each, precede it. */
export const column = (cursor: Cursor): number => cursor.pos - cursor.lineStart;

export const charAt = (cursor: Cursor, distance = 0): number =>
  cursor.text.charCodeAt(cursor.pos + distance);

export function skipSpaces(cursor: Cursor): void {
  const { text } = cursor;
  let { pos } = cursor;
  while (text.charCodeAt(pos) === SPACE) pos++;
  cursor.pos = pos;
}

/** Moves to the next line break or the end. A regular expression is fast for long comments. */
export function skipToBreak(cursor: Cursor): void {
  BREAK_OR_END.lastIndex = cursor.pos;
  cursor.pos = BREAK_OR_END.exec(cursor.text)?.index ?? cursor.text.length - 1;
}

const BREAK_OR_END = /[\0\n\r\x85\u2028\u2029]/g;

/**
 * Passes one line break and returns its value: `\n`, or itself for U+2028 and U+2029, which folding keeps. Returns ""
 * where there is no break.
 */
export function scanLineBreak(cursor: Cursor): string {
  const c = charAt(cursor);
  if (!isBreak(c)) return "";
  cursor.pos += c === 0x0d && charAt(cursor, 1) === 0x0a ? 2 : 1;
  cursor.line++;
  cursor.lineStart = cursor.pos;
  return c < 0x2000 ? "\n" : String.fromCharCode(c);
}

/** Whether `---` or `...` stands here, at the start of a line and followed by a separator. */
export function atDocumentMarker(cursor: Cursor, isEndOfWord: (c: number) => boolean): boolean {
  const c = charAt(cursor);
  return (
    (c === 0x2d || c === 0x2e) &&
    charAt(cursor, 1) === c &&
    charAt(cursor, 2) === c &&
    isEndOfWord(charAt(cursor, 3))
  );
}

/** Skips spaces, for libyaml also tabs. */
export function skipBlanks(cursor: Cursor): void {
  skipSpaces(cursor);
  while (cursor.libyaml && charAt(cursor) === TAB) {
    cursor.pos++;
    skipSpaces(cursor);
  }
}

export interface YamlErrorDetails {
  readonly code?: ErrorCode;
  /** The problem, in PyYAML's wording. */
  readonly problem: string;
  /** The construct that was being read, and its start if that is another place. */
  readonly context?: string;
  readonly contextStart?: number;
  readonly start: number;
  readonly end?: number;
  readonly hint?: string;
}

/** The error of a text that PyYAML refuses. The caller throws it. */
export function yamlError(source: SourceText, details: YamlErrorDetails): ConfigError {
  const { problem, context, contextStart, start, hint } = details;
  const origin: FileOrigin = { kind: "file", source, start, end: details.end ?? start + 1 };
  const began =
    contextStart === undefined ? "" : ` (${beganAt({ ...origin, start: contextStart })})`;
  const message = context === undefined ? problem : `${context}${began}: ${problem}`;
  return new ConfigError({
    code: details.code ?? "yaml.syntax",
    message,
    origin,
    hint,
  });
}

/** libyaml's messages in place of those of PyYAML's scanner and parser, which name the token or character found. */
const LIBYAML_WORDS: readonly (readonly [RegExp, string])[] = [
  [/expected the node content, but found .*$/s, "did not find expected node content"],
  [/expected ',' or '(.)', but got .*$/s, "did not find expected ',' or '$1'"],
  [/(block mapping.*: )expected <block end>.*$/s, "$1did not find expected key"],
  [/expected <block end>.*$/s, "did not find expected '-' indicator"],
  [/expected '(<document start>)', but found .*$/s, "did not find expected $1"],
  [/duplicate tag handle .*$/s, "found duplicate %TAG directive"],
  [/duplicate YAML directive/, "duplicate %YAML directive"],
  [/found character .* that cannot/s, "found character that cannot"],
  [
    /^sequence entries are not allowed here/,
    "block sequence entries are not allowed in this context",
  ],
  [/are not allowed here/, "are not allowed in this context"],
  [/a double-quoted scalar/, "a quoted scalar"],
  [/while scanning (a quoted scalar.*escape)/s, "while parsing $1"],
  [/expected escape sequence .*$/s, "did not find expected hexdecimal number"],
  [/unexpected document separator/, "unexpected document indicator"],
  [/expected indentation indicator .*$/, "found an indentation indicator equal to 0"],
  [/expected a comment or a line break, .*$/s, "did not find expected comment or line break"],
  [/(directive.*: )expected alphabetic .*$/s, "$1could not find expected directive name"],
  [/expected alphabetic .*$/s, "did not find expected alphabetic or numeric character"],
  [/expected URI escape sequence .*$/s, "did not find URI escaped octet"],
  [/expected URI.*$/s, "did not find expected tag URI"],
  [/expected '>'.*$/s, "did not find the expected '>'"],
  [/expected '!'.*$/s, "did not find expected '!'"],
  [/expected ' '.*$/s, "did not find expected whitespace or line break"],
  [/expected a digit or '\.'.*$/s, "did not find expected digit or '.' character"],
  [/expected a digit.*$/s, "did not find expected version number"],
];

/** The error with libyaml's wording. In libyaml the text ends on a line of its own. */
export function inLibyamlWords({ details }: ConfigError): ConfigError {
  const { origin } = details;
  const reworded = LIBYAML_WORDS.reduce(
    (text, [theirs, words]) => text.replace(theirs, words),
    details.message,
  );
  const atEnd = /'<stream end>'$/.test(details.message) && origin?.kind === "file";
  const message = atEnd ? `${reworded} at the end (${endOf(origin.source)})` : reworded;
  return new ConfigError({ ...details, message });
}

function endOf(source: SourceText): string {
  const end = source.text.length;
  const { line, column } = lineColumn({ kind: "file", source, start: end, end });
  return `line ${column === 1 ? line : line + 1}, column 1`;
}

/** Python's message for a text with a lone surrogate, which UTF-8 cannot encode; undefined for a text without one. */
export function surrogateProblem(text: string): string | undefined {
  const run = /[\ud800-\udfff]+/u.exec(text);
  if (run === null) return undefined;
  const position = [...text.slice(0, run.index)].length;
  const [half] = run;
  const where =
    half.length === 1
      ? `character '\\u${half.charCodeAt(0).toString(16)}' in position ${position}`
      : `characters in position ${position}-${position + half.length - 1}`;
  return `'utf-8' codec can't encode ${where}: surrogates not allowed`;
}

function beganAt(origin: FileOrigin): string {
  const { line, column } = lineColumn(origin);
  return `from line ${line}, column ${column}`;
}

/** A character as messages show it: quoted, or a name for the end of the text. */
export function showCharacter(text: string, offset: number): string {
  const code = text.codePointAt(offset) ?? 0;
  if (code === 0 && offset >= text.length - 1) return "the end of the text";
  if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0x2028 || code === 0x2029)
    return JSON.stringify(String.fromCodePoint(code)).replace(/^"(.*)"$/, "'$1'");
  return `'${String.fromCodePoint(code)}'`;
}

/** libyaml refuses tabs in the indentation of a block scalar. */
export function refuseTab(cursor: Cursor, context: string, contextStart: number): void {
  if (!cursor.libyaml) return;
  throw yamlError(cursor.source, {
    context,
    contextStart,
    problem: "found a tab character where an indentation space is expected",
    start: cursor.pos,
    hint: "YAML allows no tabs here: use spaces",
  });
}
