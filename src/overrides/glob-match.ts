/** Whether a name matches a shell pattern, by the rules of Python's `fnmatch` on Linux. */
export function globMatches(name: string, pattern: string): boolean {
  return matchesParts([...name], parsePattern(pattern));
}

type Part =
  | { readonly kind: "any-run" }
  | { readonly kind: "any-one" }
  | { readonly kind: "set"; readonly negated: boolean; readonly ranges: readonly CodeRange[] };

/** First and last code point, both included. */
type CodeRange = readonly [number, number];

/**
 * Greedy with one remembered star: on a mismatch the last `*` takes one character more, so that
 * patterns of many stars cost no more than name times pattern.
 */
function matchesParts(name: readonly string[], parts: readonly Part[]): boolean {
  let [at, part] = [0, 0];
  let star: { part: number; at: number } | null = null;
  while (at < name.length) {
    const current = parts[part];
    if (current?.kind === "any-run") {
      star = { part, at };
      part++;
    } else if (current !== undefined && matchesOne(current, name[at] ?? "")) {
      at++;
      part++;
    } else if (star !== null) {
      star = { part: star.part, at: star.at + 1 };
      at = star.at;
      part = star.part + 1;
    } else return false;
  }
  return parts.slice(part).every(({ kind }) => kind === "any-run");
}

function matchesOne(part: Part, char: string): boolean {
  if (part.kind !== "set") return true;
  const code = char.codePointAt(0) ?? 0;
  return part.ranges.some(([first, last]) => first <= code && code <= last) !== part.negated;
}

function parsePattern(pattern: string): readonly Part[] {
  const chars = [...pattern];
  const parts: Part[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const end = char === "[" ? setEnd(chars, at) : -1;
    if (char === "*") parts.push({ kind: "any-run" });
    else if (char === "?") parts.push({ kind: "any-one" });
    else if (end < 0) parts.push(literal(char));
    else {
      parts.push(parseSet(chars.slice(at + 1, end)));
      at = end;
    }
  }
  return parts;
}

/** The index of the `]` that closes a set, or -1: a `]` right at the start of a set is in it. */
function setEnd(chars: readonly string[], open: number): number {
  const first = chars[open + 1] === "!" ? open + 2 : open + 1;
  return chars.indexOf("]", first + 1);
}

function parseSet(inside: readonly string[]): Part {
  const negated = inside[0] === "!";
  const chars = negated ? inside.slice(1) : inside;
  const ranges: CodeRange[] = [];
  for (let at = 0; at < chars.length; at++) {
    const first = code(chars[at]);
    const isRange = chars[at + 1] === "-" && at + 2 < chars.length;
    ranges.push([first, isRange ? code(chars[at + 2]) : first]);
    if (isRange) at += 2;
  }
  return { kind: "set", negated, ranges };
}

const code = (char: string | undefined): number => char?.codePointAt(0) ?? 0;

const literal = (char: string): Part => ({
  kind: "set",
  negated: false,
  ranges: [[code(char), code(char)]],
});
