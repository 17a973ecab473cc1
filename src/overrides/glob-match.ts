import { matchesTokens, type WildcardToken } from "../text/glob.ts";

/** Whether a name matches a shell pattern, by the rules of Python's `fnmatch` on Linux. */
export const globMatches = (name: string, pattern: string): boolean =>
  matchesTokens(parsePattern(pattern), name, holds);

/** `[a-z]`, `[!a-z]`, and a character that stands for itself. */
interface SetToken {
  readonly type: "set";
  readonly negated: boolean;
  readonly ranges: readonly CodeRange[];
}

/** First and last code point, both included. */
type CodeRange = readonly [number, number];

function holds({ negated, ranges }: SetToken, character: string): boolean {
  const code = codeOf(character);
  return ranges.some(([first, last]) => first <= code && code <= last) !== negated;
}

function parsePattern(pattern: string): readonly (SetToken | WildcardToken)[] {
  const chars = [...pattern];
  const tokens: (SetToken | WildcardToken)[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at];
    const end = char === "[" ? setEnd(chars, at) : -1;
    if (char === "*") tokens.push({ type: "many" });
    else if (char === "?") tokens.push({ type: "one" });
    else if (end < 0) tokens.push(literal(char));
    else {
      tokens.push(parseSet(chars.slice(at + 1, end)));
      at = end;
    }
  }
  return tokens;
}

/** The index of the `]` that closes a set, or -1: a `]` right at the start of a set is in it. */
function setEnd(chars: readonly string[], open: number): number {
  const first = chars[open + 1] === "!" ? open + 2 : open + 1;
  return chars.indexOf("]", first + 1);
}

function parseSet(inside: readonly string[]): SetToken {
  const negated = inside[0] === "!";
  const chars = negated ? inside.slice(1) : inside;
  const ranges: CodeRange[] = [];
  for (let at = 0; at < chars.length; at++) {
    const first = codeOf(chars[at]);
    const isRange = chars[at + 1] === "-" && at + 2 < chars.length;
    ranges.push([first, isRange ? codeOf(chars[at + 2]) : first]);
    if (isRange) at += 2;
  }
  return { type: "set", negated, ranges };
}

const codeOf = (char: string | undefined): number => char?.codePointAt(0) ?? 0;

const literal = (char: string | undefined): SetToken => ({
  type: "set",
  negated: false,
  ranges: [[codeOf(char), codeOf(char)]],
});
