/**
 * Python's conversions between numbers and text: `repr(float)`, `int(str)` and `float(str)`.
 * Everything that decides whether a text "is a number" goes through here, because the writer, the
 * resolvers and the override casts must agree with each other to the last digit.
 */

/** Python 3.11 refuses to convert longer digit strings to an int (`sys.int_info`). */
const MAX_INT_DIGITS = 4300;

/** What nearly every int looks like: these need none of the care below. */
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
  const at = text.indexOf("e") + 2;
  const exponent = text.slice(at);
  return text.slice(0, at) + (exponent.length < 2 ? `0${exponent}` : exponent);
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

/** By hand: a pattern for trailing blanks is quadratic in a text full of them. */
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
