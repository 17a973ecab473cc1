/** Python's text of values (`str`, `repr`), and its conversions between numbers and text. */
import { isBytes } from "../../foundation/system/builtin-types.ts";
import {
  type ConfigNode,
  checkDepth,
  type EnumType,
  enumOf,
  isNode,
  isPathValue,
  type Key,
  type ScalarNode,
  type ScalarValue,
} from "./node.ts";

/**
 * Python's `str()` of a value, as it appears where an interpolation stands inside a longer text:
 * `True`, `None`, `1e-07`, `[1, 'two', {'three': 3}]`.
 */
export function pyStr(value: ConfigNode | ScalarValue): string {
  if (!isNode(value))
    return isText(value) ? value : isPathValue(value) ? value.path : pyRepr(value);
  if (value.kind === "scalar") {
    const enumType = enumOf(value);
    return enumType === undefined ? pyStr(value.value) : memberText(enumType, value);
  }
  return pyRepr(value);
}

/**
 * Python's `repr()` of a value; inside containers every value is shown by its `repr`.
 * @throws ConfigError `yaml.depth_limit`
 */
export const pyRepr = (value: ConfigNode | ScalarValue): string => repr(value, 0);

function repr(value: ConfigNode | ScalarValue, depth: number): string {
  if (!isNode(value)) return scalarRepr(value);
  checkDepth(depth, value);
  switch (value.kind) {
    case "scalar": {
      const enumType = enumOf(value);
      return enumType === undefined ? scalarRepr(value.value) : memberRepr(enumType, value);
    }
    case "list": {
      const items = value.items.map((item) => repr(item, depth + 1));
      if (value.tuple !== true) return `[${items.join(", ")}]`;
      return items.length === 1 ? `(${items[0]},)` : `(${items.join(", ")})`;
    }
    case "map": {
      const entries = [...value.entries.values()];
      return `{${entries.map((entry) => `${scalarRepr(entry.key)}: ${repr(entry.value, depth + 1)}`).join(", ")}}`;
    }
  }
}

/** The name Python gives to the type of a value: `int`, `str`, `NoneType`, `DictConfig`, … */
export function pyTypeName(value: ConfigNode | ScalarValue): string {
  if (isNode(value)) {
    if (value.kind === "scalar") return enumOf(value)?.name ?? pyTypeName(value.value);
    return value.kind === "map" ? "DictConfig" : "ListConfig";
  }
  if (value === null) return "NoneType";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "float";
    case "string":
      return "str";
    default:
      return isBytes(value) ? "bytes" : "PosixPath";
  }
}

/** `str()` of a mapping key, as it stands in full keys. */
export const keyText = (key: Key): string => pyStr(key);

function scalarRepr(value: ScalarValue): string {
  if (value === null) return "None";
  switch (typeof value) {
    case "boolean":
      return value ? "True" : "False";
    case "bigint":
      return String(value);
    case "number":
      return floatRepr(value);
    case "string":
      return stringRepr(value);
    default:
      return isBytes(value) ? bytesRepr(value) : `PosixPath(${stringRepr(value.path)})`;
  }
}

/** Python prefers single quotes, except for a text with single and without double quotes. */
const quoteFor = (text: string): string => (text.includes("'") && !text.includes('"') ? '"' : "'");

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\\", "\\\\"],
]);

/** The characters that `str.isprintable` rejects: the categories "other" and "separator", except the space. */
const UNPRINTABLE = /^[\p{C}\p{Z}]$/u;

function stringRepr(text: string): string {
  const quote = quoteFor(text);
  let out = "";
  for (const char of text) {
    const short = SHORT_ESCAPES.get(char);
    if (short !== undefined) out += short;
    else if (char === quote) out += `\\${char}`;
    else out += char !== " " && UNPRINTABLE.test(char) ? codeEscape(char) : char;
  }
  return `${quote}${out}${quote}`;
}

function codeEscape(char: string): string {
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

function bytesRepr(bytes: Uint8Array): string {
  const quote = quoteFor(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  let out = "";
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    const short = SHORT_ESCAPES.get(char);
    if (short !== undefined) out += short;
    else if (char === quote) out += `\\${char}`;
    else out += byte < 0x20 || byte > 0x7e ? codeEscape(char) : char;
  }
  return `b${quote}${out}${quote}`;
}

/** Enum members are stored by name; Python shows them as `Color.RED`. */
const memberText = (enumType: EnumType, { value }: ScalarNode): string =>
  `${enumType.name}.${pyStr(value)}`;

/** `<Color.RED: 1>`; the name is shown in place of an unknown value. */
function memberRepr(enumType: EnumType, node: ScalarNode): string {
  const value = enumType.values?.[enumType.members.indexOf(pyStr(node.value))] ?? node.value;
  return `<${memberText(enumType, node)}: ${scalarRepr(value)}>`;
}

const isText = (value: unknown): value is string => typeof value === "string";

// Python's conversions between numbers and text: `repr(float)`, `int(str)` and `float(str)`.
// Everything that decides whether a text "is a number" goes through here, because the writer, the
// resolvers and the override casts must agree with each other to the last digit.

/** Python 3.11 refuses to convert longer digit strings to an int (`sys.int_info`). */
const MAX_INT_DIGITS = 4300;

/** Matches nearly all ints, which need none of the checks below. */
const PLAIN_INT = /^[+-]?[0-9]{1,300}$/;
const INT = /^[+-]?[0-9]+(?:_[0-9]+)*$/;
const FLOAT =
  /^[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?$/;
const SPECIAL = /^([+-]?)(?:(inf|infinity)|nan)$/i;

/**
 * `repr()` of a Python float: the shortest digits that round-trip, positional for exponents from
 * -4 to 15, else scientific with a sign and at least two digits (`1e-05`, `1e+16`).
 */
export function floatRepr(n: number): string {
  if (Number.isNaN(n)) return "nan";
  if (!Number.isFinite(n)) return n > 0 ? "inf" : "-inf";
  if (Object.is(n, -0)) return "-0.0";
  const magnitude = Math.abs(n);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e16)) return scientific(n);
  // JavaScript is positional from 1e-6 to 1e21, so it is positional in this whole range.
  const text = String(n);
  return text.includes(".") ? text : `${text}.0`;
}

function scientific(n: number): string {
  const text = n.toExponential();
  const start = text.indexOf("e") + 2;
  const exponent = text.slice(start);
  return text.slice(0, start) + (exponent.length < 2 ? `0${exponent}` : exponent);
}

/**
 * `int(text)`: surrounding white space, a sign, single underscores between digits and the decimal
 * digits of every script are accepted. Null where Python raises ValueError.
 */
export function parsePythonInt(text: string): bigint | null {
  if (PLAIN_INT.test(text)) return BigInt(text);
  const digits = toAsciiNumber(text);
  if (!INT.test(digits)) return null;
  const plain = digits.replaceAll("_", "");
  const unsigned = plain[0] === "-" || plain[0] === "+" ? plain.slice(1) : plain;
  if (unsigned.length > MAX_INT_DIGITS) return null;
  const value = BigInt(unsigned);
  return plain[0] === "-" ? -value : value;
}

/**
 * `float(text)`: as `parsePythonInt`, with a fraction, an exponent, and `inf`, `infinity` and `nan`
 * in any casing. Overflow gives an infinity. Null where Python raises ValueError.
 */
export function parsePythonFloat(text: string): number | null {
  const ascii = toAsciiNumber(text);
  if (FLOAT.test(ascii)) return Number(ascii.replaceAll("_", ""));
  const special = SPECIAL.exec(ascii);
  if (special === null) return null;
  if (special[2] === undefined) return Number.NaN;
  return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/**
 * Strips white space and turns decimal digits of other scripts into ASCII, as CPython does before
 * it parses: an ASCII text is only stripped of C's `isspace`, while any other text also has its
 * Unicode white space stripped. Characters that are neither stay and fail the pattern.
 */
function toAsciiNumber(text: string): string {
  const ascii = isAscii(text) ? text : text.replace(NON_ASCII, asciiEquivalent);
  return stripSpace(ascii);
}

/** A loop, because a regular expression for trailing blanks takes quadratic time for a text full of them. */
function stripSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (start < end && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** C's `isspace`: the blank, and tab to carriage return. */
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);

const NON_ASCII = /[^\0-\x7e]/gu;
const PYTHON_SPACE = /^[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;
const DECIMAL_DIGIT = /^\p{Nd}$/u;

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7e) return false;
  return true;
}

function asciiEquivalent(char: string): string {
  if (PYTHON_SPACE.test(char)) return " ";
  if (!DECIMAL_DIGIT.test(char)) return "?";
  return String(digitValue(char));
}

/** Unicode allots decimal digits in runs of ten from zero to nine; some runs follow each other. */
function digitValue(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  let start = code;
  while (DECIMAL_DIGIT.test(String.fromCodePoint(start - 1))) start--;
  return (code - start) % 10;
}
