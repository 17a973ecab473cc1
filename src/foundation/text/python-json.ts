/** NaN and infinities, which JSON lacks: Python's module `json` writes and reads them, and files of ours have texts for them. */

/** Texts, which may look like such numbers, and these. */
const TOKENS = /"(?:[^"\\]|\\.)*"|NaN|-?Infinity/gs;

/**
 * Reads JSON as Python's `json.loads` does.
 *
 * @throws SyntaxError
 */
export function parsePythonJson(text: string): unknown {
  if (!/NaN|Infinity/.test(text)) return JSON.parse(text);
  // An error of the rest has its place and its words here.
  JSON.parse(
    text.replaceAll(TOKENS, (token) => (token.startsWith('"') ? token : "0".padEnd(token.length))),
  );
  return JSON.parse(text.replaceAll(TOKENS, standIn), original);
}

/** All texts get a mark, so that the object that stands for NaN is like no other. */
function standIn(token: string): string {
  if (token.startsWith('"')) return `"_${token.slice(1)}`;
  if (token === "NaN") return '{"NaN":0}';
  return token.startsWith("-") ? "-1e999" : "1e999";
}

function original(_: string, value: unknown): unknown {
  if (typeof value === "string") return value.slice(1);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (Object.hasOwn(value, "NaN")) return Number.NaN;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.slice(1), one]));
}

/** For `JSON.stringify`: NaN and infinities as texts. */
export const withTexts = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
