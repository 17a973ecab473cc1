/** NaN and infinities, which JSON lacks: Python's module `json` writes and reads them, and files of ours have texts for them. */

/** These numbers, and what shows where a text is, which may look like one. */
const TOKENS = /\\.|"|NaN|-?Infinity/gs;

/**
 * Reads JSON as Python's `json.loads` does.
 *
 * @throws SyntaxError
 */
export function parsePythonJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
  }
  // An error of the rest has its place here: an object is as long, and refused wherever such a number is.
  JSON.parse(withStandIns(text, '"', (number) => "{}".padEnd(number.length)));
  return JSON.parse(
    withStandIns(text, '"_', (number) => `{"${number}":0}`),
    original,
  );
}

/**
 * Replaces the numbers that JSON lacks, and the beginning of each text. It goes from token to token, because the stack of a
 * pattern for whole texts overflows on long ones, and searches in one without an end from each of its quotes.
 */
function withStandIns(text: string, beginning: string, standIn: (number: string) => string) {
  let isInText = false;
  return text.replaceAll(TOKENS, (token) => {
    if (token === '"') {
      isInText = !isInText;
      return isInText ? beginning : token;
    }
    return isInText || token.startsWith("\\") ? token : standIn(token);
  });
}

/** All texts have a mark, so that the object that stands for a number is like no other. */
function original(_: string, value: unknown): unknown {
  if (typeof value === "string") return value.slice(1);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const [[first] = ["_"]] = entries;
  if (!first.startsWith("_")) return Number(first);
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(1), value]));
}

/** For `JSON.stringify`: NaN and infinities as texts. */
export const withTexts = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
