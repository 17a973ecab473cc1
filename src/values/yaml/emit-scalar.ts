import type { PathValue, ScalarValue } from "../node.ts";
import { floatRepr, parsePythonFloat, parsePythonInt } from "../python-text.ts";
import { plainTag, TAG } from "./syntax-node.ts";

export type PlainScalar = Exclude<ScalarValue, PathValue>;

type Style = "plain" | "single" | "double" | "literal";

/** PyYAML writes longer keys as `? key`. */
const MAX_KEY_LENGTH = 128;
/** `!!float`; a key that is this near to the limit is measured exactly. */
const LONGEST_TAG = 7;

/**
 * Words that only a closer look can tell from other types. Any other text of letters, digits and
 * `_/.-` that begins with a letter is a plain string: nearly every key and most values.
 */
const WORD = /^[A-Za-z_/][A-Za-z0-9_/.-]*$/;
const AMBIGUOUS = /^(?:[yn]|yes|no|true|false|on|off|null|inf|infinity|nan)$/i;

/** Writes a value. `indent` is where continuation lines go; the cursor stands where it begins. */
export function emitValue(out: Output, value: PlainScalar, indent: number): Style {
  const simple = simpleText(value);
  if (simple !== null) {
    append(out, simple);
    return "plain";
  }
  const represented = representScalar(value);
  const analysis = analyzeScalar(represented.text);
  return emit(out, represented, analysis, indent, "value");
}

/** Writes a key that fits in front of its `:`; returns false, writing nothing, for any other. */
export function emitSimpleKey(out: Output, key: PlainScalar, indent: number): boolean {
  const simple = simpleText(key);
  if (simple !== null && simple.length + LONGEST_TAG < MAX_KEY_LENGTH) {
    append(out, simple);
    return true;
  }
  const represented = representScalar(key);
  const analysis = analyzeScalar(represented.text);
  const tooLong = represented.tag.length + analysis.length >= MAX_KEY_LENGTH;
  if (tooLong || analysis.empty || analysis.multiline) return false;
  emit(out, represented, analysis, indent, "simple key");
  return true;
}

/** The text of a scalar that is written plain and never folded, whatever stands around it. */
function simpleText(value: PlainScalar): string | null {
  if (typeof value === "string") return isWord(value) ? value : null;
  return value instanceof Uint8Array ? null : representScalar(value).text;
}

const isWord = (text: string): boolean =>
  WORD.test(text) && !(text.length < 9 && AMBIGUOUS.test(text));

function emit(
  out: Output,
  { text, tag, style: wanted }: ScalarText,
  analysis: ScalarAnalysis,
  indent: number,
  role: ScalarRole,
): Style {
  const style = chooseStyle(wanted, analysis, role);
  if (tag === "!!binary") append(out, "!!binary ");
  if (style === "plain") emitPlain(out, text, analysis.length, indent, role);
  else if (style === "single") emitSingleQuoted(out, text, analysis.length, indent, role);
  else if (style === "double") emitDoubleQuoted(out, text, indent, role);
  else emitLiteral(out, text, indent);
  return style;
}

function chooseStyle(
  wanted: ScalarText["style"],
  analysis: ScalarAnalysis,
  role: ScalarRole,
): Style {
  if (wanted === "plain" && analysis.allowPlain) return "plain";
  // Where a block was asked for and cannot be (no bytes at all), PyYAML turns to double quotes.
  if (wanted === "literal") return analysis.allowBlock && role === "value" ? "literal" : "double";
  return analysis.allowSingleQuoted ? "single" : "double";
}

/** A scalar as text, before the style is chosen. */
interface ScalarText {
  readonly text: string;
  /** The tag in short form; PyYAML counts it in the length of a key even where it is not written. */
  readonly tag: "!!str" | "!!null" | "!!bool" | "!!int" | "!!float" | "!!binary";
  /** `quoted` and `literal` were asked for; `plain` is free to be anything. */
  readonly style: "plain" | "quoted" | "literal";
}

/** Texts that YAML 1.1 tools may take for booleans; `y` and `n` among them. */
const BOOLEAN_WORDS: ReadonlySet<string> = new Set(
  ["y", "yes", "n", "no", "true", "false", "on", "off"].flatMap((word) => [
    word,
    word.toUpperCase(),
    word.charAt(0).toUpperCase() + word.slice(1),
  ]),
);

function representScalar(value: Exclude<ScalarValue, PathValue>): ScalarText {
  if (value === null) return { text: "null", tag: "!!null", style: "plain" };
  switch (typeof value) {
    case "boolean":
      return { text: value ? "true" : "false", tag: "!!bool", style: "plain" };
    case "bigint":
      return { text: value.toString(), tag: "!!int", style: "plain" };
    case "number":
      return { text: floatText(value), tag: "!!float", style: "plain" };
    case "string":
      return { text: value, tag: "!!str", style: needsQuotes(value) ? "quoted" : "plain" };
    default:
      return { text: base64Lines(value), tag: "!!binary", style: "literal" };
  }
}

/** Whether the text, written plain, would be read as anything but a string. */
const needsQuotes = (text: string): boolean =>
  BOOLEAN_WORDS.has(text) || plainTag(text, "pyyaml") !== TAG.string || isPythonNumber(text);

/** What every text begins with that Python's int() or float() accepts, white space aside. */
const NUMBER_START = /^[\s\p{Cc}]*[-+.iInN\p{Nd}]/u;

/** OmegaConf quotes whatever Python takes for a number, be it one in YAML or not. */
const isPythonNumber = (text: string): boolean =>
  NUMBER_START.test(text) && (parsePythonInt(text) !== null || parsePythonFloat(text) !== null);

/** Python's repr with a `.0` in front of a bare exponent, so that it is a float in YAML 1.1. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  const text = floatRepr(value);
  return text.includes(".") ? text : text.replace("e", ".0e");
}

/** Lines of 76 characters, as Python's `base64.encodebytes` breaks them. */
function base64Lines(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("base64");
  return text.replace(/.{1,76}/g, "$&\n");
}

/** What a text allows, by PyYAML's analysis. Styles are chosen from this alone. */
interface ScalarAnalysis {
  readonly empty: boolean;
  readonly multiline: boolean;
  readonly allowPlain: boolean;
  readonly allowSingleQuoted: boolean;
  readonly allowBlock: boolean;
  /** Length in code points, which is what columns count. */
  readonly length: number;
}

const EMPTY: ScalarAnalysis = {
  empty: true,
  multiline: false,
  allowPlain: true,
  allowSingleQuoted: true,
  allowBlock: false,
  length: 0,
};

/** Characters that cannot begin a plain scalar, whatever follows. */
const FIRST_INDICATORS = new Set("#,[]{}&*!|>'\"%@`");

/**
 * One pass over the text. Blanks and breaks at either end and next to each other decide which
 * styles can hold the text; indicators only matter for plain ones; anything that is not printable
 * needs the escapes of double quotes.
 */
export function analyzeScalar(text: string): ScalarAnalysis {
  const { length } = text;
  if (length === 0) return EMPTY;
  let indicators =
    text.startsWith("---") ||
    text.startsWith("...") ||
    FIRST_INDICATORS.has(text.charAt(0)) ||
    (/^[-?:]/.test(text) && (length === 1 || isSpaceOrEnd(text.charCodeAt(1))));
  let special = false;
  let multiline = false;
  let breakThenSpace = false;
  let spaceThenBreak = false;
  let astral = 0;
  let previous = 0;
  for (let at = 0; at < length; at++) {
    const c = text.charCodeAt(at);
    if (c === COLON) {
      if (at > 0 && (at + 1 === length || isSpaceOrEnd(text.charCodeAt(at + 1)))) indicators = true;
    } else if (c === HASH) {
      if (at > 0 && isSpaceOrEnd(previous)) indicators = true;
    } else if (c === SPACE) {
      if (at > 0 && isLineBreak(previous)) breakThenSpace = true;
    } else if (isLineBreak(c)) {
      multiline = true;
      if (previous === SPACE) spaceThenBreak = true;
    } else if (isHighSurrogate(c) && isLowSurrogate(text.charCodeAt(at + 1))) {
      // PyYAML's range of printable characters leaves the very last one out.
      if (c === 0xdbff && text.charCodeAt(at + 1) === 0xdfff) special = true;
      astral++;
      at++;
    } else if (!isPrintable(c)) {
      special = true;
    }
    previous = c;
  }
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(length - 1);
  const blankEnds = first === SPACE || last === SPACE || isLineBreak(first) || isLineBreak(last);
  const broken = spaceThenBreak || special;
  return {
    empty: false,
    multiline,
    allowPlain: !(indicators || blankEnds || breakThenSpace || broken || multiline),
    allowSingleQuoted: !(breakThenSpace || broken),
    allowBlock: !(last === SPACE || broken),
    length: length - astral,
  };
}

const SPACE = 0x20;
const HASH = 0x23;
const COLON = 0x3a;

/** The line breaks that the writer knows; a carriage return is escaped instead. */
const isLineBreak = (c: number): boolean =>
  c === 0x0a || c === 0x85 || c === 0x2028 || c === 0x2029;

const isSpaceOrEnd = (c: number): boolean =>
  c === SPACE || c === 0 || c === 0x09 || c === 0x0d || isLineBreak(c);

const isPrintable = (c: number): boolean =>
  (c >= 0x20 && c <= 0x7e) ||
  (c >= 0xa0 && c <= 0xd7ff) ||
  (c >= 0xe000 && c <= 0xfffd && c !== 0xfeff);

const isHighSurrogate = (c: number): boolean => c >= 0xd800 && c <= 0xdbff;
const isLowSurrogate = (c: number): boolean => c >= 0xdc00 && c <= 0xdfff;

/**
 * A plain scalar is folded at single spaces behind column 80, never inside a longer run of spaces.
 * `length` is in code points.
 */
function emitPlain(
  out: Output,
  text: string,
  length: number,
  indent: number,
  role: ScalarRole,
): void {
  if (role === "simple key" || out.column + length <= BEST_WIDTH) append(out, text, length);
  else for (const piece of pieces(text)) emitPiece(out, piece, indent);
}

/** Words and the runs of spaces between them, alternately. */
const pieces = (text: string): readonly string[] => text.split(/( +)/);

function emitPiece(out: Output, piece: string, indent: number): void {
  if (piece === " " && out.column > BEST_WIDTH) startLine(out, indent);
  else append(out, piece, [...piece].length);
}

/**
 * Single quotes: `'` is doubled, a line break is written twice (a single one would be folded into a
 * space) and long lines are folded at single spaces, but not at the first and last character.
 */
function emitSingleQuoted(
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
function emitDoubleQuoted(out: Output, text: string, indent: number, role: ScalarRole): void {
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

/** A literal block, used only for base64: lines that are not empty, each with its line break. */
function emitLiteral(out: Output, text: string, indent: number): void {
  append(out, "|");
  breakLine(out);
  for (const line of text.split("\n")) {
    if (line === "") continue;
    startLine(out, indent);
    append(out, line);
    breakLine(out);
  }
}

/** The text written so far, and the column that the next character gets. */
export interface Output {
  text: string;
  column: number;
}

/** A simple key stays on one line whatever its length; a value may be folded, or take a block. */
type ScalarRole = "simple key" | "value";

/** PyYAML folds behind this column. */
const BEST_WIDTH = 80;
export const INDENT = 2;

export function append(out: Output, text: string, width = text.length): void {
  out.text += text;
  out.column += width;
}

/** Moves to a column of a fresh line; stays on the current one where nothing was written on it. */
export function startLine(out: Output, column: number): void {
  if (out.column > 0) out.text += "\n";
  out.text += spaces(column);
  out.column = column;
}

/** Moves to a column further right on the same line. */
export const moveTo = (out: Output, column: number): void =>
  append(out, spaces(column - out.column));

export function breakLine(out: Output, lineBreak = "\n"): void {
  out.text += lineBreak;
  out.column = 0;
}

const spaces = (count: number): string => SPACES[count] ?? " ".repeat(count);

const SPACES: readonly string[] = Array.from({ length: 64 }, (_, count) => " ".repeat(count));
