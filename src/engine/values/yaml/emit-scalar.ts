/** Writes scalars in PyYAML's style: plain, quoted or folded. */

import { isBytes } from "../../../foundation/system/builtin-types.ts";
import { toBase64, utf8Length } from "../../../foundation/text/bytes.ts";
import type { PathValue, ScalarValue } from "../node.ts";
import { floatRepr, parsePythonFloat, parsePythonInt } from "../python-text.ts";
import { analyzeScalar, type ScalarAnalysis } from "./scalar-analysis.ts";
import { plainTag, TAG } from "./syntax-node.ts";

export type PlainScalar = Exclude<ScalarValue, PathValue>;

type Style = "plain" | "single" | "double" | "literal";

/** PyYAML writes keys of at least this length as `? key`; libyaml longer ones, counted in bytes. */
const MAX_KEY_LENGTH = 128;
/** The length of `!!float`; a key this close to the limit is measured exactly. */
const LONGEST_TAG = 7;

/**
 * Words that need a closer check, since YAML could read them as other types. Any other text of letters, digits and
 * `_/.-` that begins with a letter is a plain string: nearly every key and most values.
 */
const WORD = /^[A-Za-z_/][A-Za-z0-9_/.-]*$/;
const AMBIGUOUS = /^(?:[yn]|yes|no|true|false|on|off|null|inf|infinity|nan)$/i;

/** Writes a value at the cursor. `indent` is the column of continuation lines. */
export function emitValue(out: Output, value: PlainScalar, indent: number): Style {
  const simple = simpleText(value);
  if (simple !== null) {
    append(out, simple);
    return "plain";
  }
  const represented = representScalar(value);
  return emit(out, represented, analyzeScalar(represented.text, out.libyaml), indent, "value");
}

/** Writes a key that fits in front of its `:`; returns false, writing nothing, for any other. */
export function emitSimpleKey(out: Output, key: PlainScalar, indent: number): boolean {
  const simple = simpleText(key);
  if (simple !== null && simple.length + LONGEST_TAG < MAX_KEY_LENGTH) {
    append(out, simple);
    return true;
  }
  const represented = representScalar(key);
  const analysis = analyzeScalar(represented.text, out.libyaml);
  if (!isSimpleKey(out, represented, analysis)) return false;
  emit(out, represented, analysis, indent, "simple key");
  return true;
}

function isSimpleKey(
  { libyaml }: Output,
  { tag, text }: ScalarText,
  { empty, length, multiline }: ScalarAnalysis,
): boolean {
  if (multiline) return false;
  if (libyaml) return utf8Length(text) <= MAX_KEY_LENGTH;
  return !empty && tag.length + length < MAX_KEY_LENGTH;
}

/** Whether PyYAML's representer sets the style of a value; then a list of such values is not written in brackets. */
export const hasOwnStyle = (value: PlainScalar): boolean =>
  typeof value === "string" ? BOOLEAN_WORDS.has(value) || isPythonNumber(value) : isBytes(value);

/** The text of a scalar that is always written plain and never folded; null for others. */
function simpleText(value: PlainScalar): string | null {
  if (typeof value === "string") return isWord(value) ? value : null;
  return isBytes(value) ? null : representScalar(value).text;
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
  const style = chooseStyle(out, wanted, analysis, role);
  if (tag === "!!binary") append(out, "!!binary ");
  if (style === "plain") emitPlain(out, text, analysis.length, indent, role);
  else if (style === "single") emitSingleQuoted(out, text, analysis.length, indent, role);
  else if (style === "double") {
    if (out.libyaml) emitFolded(out, text, indent, role);
    else emitDoubleQuoted(out, text, indent, role);
  } else emitLiteral(out, text, indent);
  return style;
}

function chooseStyle(
  { inFlow }: Output,
  wanted: ScalarText["style"],
  analysis: ScalarAnalysis,
  role: ScalarRole,
): Style {
  const allowPlain = inFlow ? analysis.allowFlowPlain : analysis.allowPlain;
  if (wanted === "plain" && allowPlain) return "plain";
  // Where a block was requested and is not possible (no bytes at all), PyYAML uses double quotes.
  if (wanted === "literal")
    return analysis.allowBlock && role === "value" && !inFlow ? "literal" : "double";
  return analysis.allowSingleQuoted ? "single" : "double";
}

/** A scalar as text, before its style is chosen. */
interface ScalarText {
  readonly text: string;
  /** The short tag; PyYAML adds it to the length of a key even where it is not written. */
  readonly tag: "!!str" | "!!null" | "!!bool" | "!!int" | "!!float" | "!!binary";
  /** `quoted` and `literal` are requested styles; `plain` allows any style. */
  readonly style: "plain" | "quoted" | "literal";
}

/** Words that YAML 1.1 tools may read as booleans, `y` and `n` included. */
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

/** Whether the text, written plain, would not be read as a string. */
const needsQuotes = (text: string): boolean =>
  BOOLEAN_WORDS.has(text) || plainTag(text, "pyyaml") !== TAG.string || isPythonNumber(text);

/** The start of every text that Python's int() or float() accepts, after white space. */
const NUMBER_START = /^[\s\p{Cc}]*[-+.iInN\p{Nd}]/u;

/** OmegaConf quotes every text that Python can convert to a number, whether or not YAML reads it as one. */
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
  const text = toBase64(bytes);
  return text.replace(/.{1,76}/g, "$&\n");
}

/**
 * A plain scalar is folded at single spaces after column 80, never inside a longer run of spaces. `length` is in code
 * points.
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

/** Alternating words and runs of spaces. */
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

/** Whether a part is the last of a split, or only an empty one follows. */
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

/**
 * Characters that double quotes keep as they are. Unlike in other styles, characters beyond the basic plane are
 * escaped.
 */
const VERBATIM = /^[\x20\x21\x23-\x5b\x5d-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]$/;

/**
 * Double quotes with escapes. A long line is broken by `\` before a space or after an escape; a space that begins the
 * next line is escaped too.
 */
function emitDoubleQuoted(out: Output, text: string, indent: number, role: ScalarRole): void {
  const chars = Array.from(text);
  append(out, '"');
  // Start of the characters that are not written yet.
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

/** libyaml's folding of double quotes: at a single space, which is dropped, or before the second of several. */
function emitFolded(out: Output, text: string, indent: number, role: ScalarRole): void {
  const chars = Array.from(text);
  append(out, '"');
  let previous = "";
  for (const [index, char] of chars.entries()) {
    const isInside = index > 0 && index < chars.length - 1;
    const mayFold = role === "value" && char === " " && previous !== " " && isInside;
    if (mayFold && out.column > BEST_WIDTH) {
      startLine(out, indent);
      if (chars[index + 1] === " ") append(out, "\\");
    } else append(out, VERBATIM.test(char) ? char : escaped(char));
    previous = char;
  }
  append(out, '"');
}

function escaped(char: string): string {
  const shortForm = ESCAPES.get(char);
  if (shortForm !== undefined) return shortForm;
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/** A literal block, used only for base64: non-empty lines, each with its line break. */
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
  /** Whether the text is written as by libyaml. */
  readonly libyaml: boolean;
  /** Whether brackets are open around the next scalar. */
  inFlow: boolean;
}

/** A simple key stays on one line, whatever its length; a value may be folded or become a block. */
type ScalarRole = "simple key" | "value";

/** PyYAML folds lines after this column. */
export const BEST_WIDTH = 80;
export const INDENT = 2;

export function append(out: Output, text: string, width = text.length): void {
  out.text += text;
  out.column += width;
}

/** Moves to a column of a new line, or of the current line if it is still empty. */
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
