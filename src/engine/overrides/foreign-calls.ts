/** Calls of Python's libraries that make a row of numbers or a span, as a sweep has them. */
import { floatRepr } from "../values/python-text.ts";

/** The same as a call of ours; undefined for a call that is not known, or has other arguments. */
export function foreignCall(value: string): string | undefined {
  const [, name = "", inner = ""] =
    /^\s*(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)\s*\((.*)\)\s*$/s.exec(value) ?? [];
  if (/^(?:list|tuple|sorted)$/.test(name)) return /^\s*\w+\s*\(/.test(inner) ? inner : undefined;
  const written = inner
    .split(",")
    .map((text, index) => text.trim().replace(NAMES[index] ?? "", ""));
  const numbers = written.map(Number);
  if (written.includes("") || numbers.some(Number.isNaN)) return undefined;
  return CALLS.get(name)?.(written, numbers);
}

/** How arguments are named at their places; at another place it is no number. */
const NAMES = [
  /^(?:start|low|lower|min|a)\s*=\s*/,
  /^(?:stop|end|high|upper|max|b)\s*=\s*/,
  /^(?:num|step)\s*=\s*/,
];

type Rewriting = (written: readonly string[], numbers: readonly number[]) => string | undefined;

/** A call with two arguments. */
const span =
  (rewritten: (from: string, to: string) => string): Rewriting =>
  ([from = "", to = "", ...others]) =>
    to === "" || others.length > 0 ? undefined : rewritten(from, to);

/** A call with three arguments: a fourth is another base, or leaves out the end. */
const row =
  (rewritten: (from: string, to: string, count: string) => string): Rewriting =>
  ([from = "", to = "", count = "", ...others]) =>
    count === "" || others.length > 0 ? undefined : rewritten(from, to, count);

const CALLS: ReadonlyMap<string, Rewriting> = new Map(
  Object.entries<Rewriting>({
    linspace: (_, numbers) => equallySpaced(numbers),
    logspace: row((from, to, count) => `logrange(1e${from},1e${to},${count})`),
    geomspace: row((from, to, count) => `logrange(${from},${to},${count})`),
    arange: (written) => `range(${written.join(",")})`,
    uniform: span((from, to) => `interval(${from},${to})`),
    loguniform: span((from, to) => `tag(log,interval(${from},${to}))`),
    randint: span((from, to) => `int(interval(${from},${to}))`),
  }),
);

/** A hint names so many values. */
const MOST_VALUES = 20;

function equallySpaced(numbers: readonly number[]): string | undefined {
  const [from = 0, to = 0, count = 0, ...others] = numbers;
  const isShort = Number.isInteger(count) && count >= 2 && count <= MOST_VALUES;
  if (!isShort || others.length > 0) return undefined;
  const values = Array.from({ length: count }, (_, index) => {
    // Without the digits that come from rounding.
    const value = Number((from + ((to - from) * index) / (count - 1)).toPrecision(12));
    return floatRepr(value);
  });
  return `choice(${values.join(",")})`;
}
