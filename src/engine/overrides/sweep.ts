/** What the sweep overrides of a command line make: the overrides of each job. */
import { matchesTokens, type WildcardToken } from "../../foundation/text/glob.ts";
import { ConfigError } from "../values/errors.ts";
import { floatRepr } from "../values/python-text.ts";
import {
  type GlobSweep,
  isSweepValue,
  type Override,
  type OverrideValue,
  type Sweep,
  type UnionSweep,
  type ZipSweep,
} from "./ast.ts";
import { elementToString, overrideKeyElement } from "./print.ts";
import { isEndlessRange, rangeValues } from "./range-values.ts";

export interface SweepOptions {
  /** The options of a config group, which `glob` selects from. Without it a glob is an error. */
  readonly groupOptions?: (group: string) => readonly string[];
  /** Numbers in [0, 1) for `shuffle`. */
  readonly random?: () => number;
}

/** Whether an override makes several jobs. */
export const isSweep = (override: Override): override is Override & { readonly value: Sweep } =>
  override.value !== undefined && isSweepValue(override.value);

/** Whether `sweepStrings` never ends (`range(0,inf)`). To be checked before its values are collected. */
export function isEndless(override: Override): boolean {
  const { value } = override;
  if (value?.kind === "zip") return value.columns.some(isEndless);
  if (value?.kind === "union") return partsOf(value, override).some(isEndless);
  return value?.kind === "range" && isEndlessRange(value);
}

/** The parts of a union, each as the override that has only this part. */
const partsOf = ({ parts }: UnionSweep, override: Override): readonly Override[] =>
  parts.map((value) => ({ ...override, value }));

/**
 * A lower bound for the number of values, computed without enumerating them: for a range from its bounds; 0 for other
 * sweeps, which have no more values than are written. To be checked before the values are collected.
 */
export function leastValues(override: Override): number {
  const { value } = override;
  if (value?.kind === "union")
    return partsOf(value, override).reduce((sum, part) => sum + leastValues(part), 0);
  if (value?.kind === "zip") return Math.max(0, ...value.columns.map(leastValues));
  if (value?.kind !== "range") return 0;
  const { start, step, stop } = value;
  const values = (Number(stop) - Number(start)) / Number(step);
  // A range with step zero or a NaN gets its own error later.
  return Number(step) === 0 || Number.isNaN(values) ? 0 : values;
}

/**
 * The overrides of every job of a sweep, in order: one for each job, or one for each key of a zip.
 * @throws ConfigError `override.function` as `sweepStrings` does, and for a zip whose keys have different numbers of
 *   values
 */
export function* sweepOverrides(
  override: Override,
  options: SweepOptions = {},
): Generator<readonly string[]> {
  const { value } = override;
  if (value?.kind === "zip") yield* zipped(value, override, options);
  else if (value?.kind === "union")
    for (const part of partsOf(value, override)) yield* sweepOverrides(part, options);
  else
    for (const text of sweepStrings(override, options))
      yield [`${overrideKeyElement(override)}=${text}`];
}

function zipped(
  { columns }: ZipSweep,
  override: Override,
  options: SweepOptions,
): readonly (readonly string[])[] {
  if (override.type === "delete") cannotEnumerate(override, "a deletion has no values to pair");
  const endless = columns.find(isEndless);
  if (endless !== undefined)
    cannotEnumerate(override, `'${overrideKeyElement(endless)}' never ends`);
  const lists = columns.map((column) => [...sweepOverrides(column, options)].flat());
  const [first = []] = lists;
  if (lists.some(({ length }) => length !== first.length)) {
    const counts = columns.map((column, index) => {
      const count = lists[index]?.length ?? 0;
      return `${overrideKeyElement(column)} has ${count}`;
    });
    cannotEnumerate(override, `its keys need the same number of values, but ${counts.join(", ")}`);
  }
  return first.map((_, row) => lists.flatMap((list) => list[row] ?? []));
}

/**
 * The value of every job of a sweep, in order, as text after the `=` of the job's own override. Lazy: a long range
 * costs nothing until it is consumed, but see `isEndless`.
 * @throws ConfigError `override.function` for a sweep that cannot be enumerated: an interval, a range with a zero step,
 *   a sweep inside a choice, a glob without `groupOptions`, a zip
 */
export function* sweepStrings(override: Override, options: SweepOptions = {}): Generator<string> {
  const { value } = override;
  switch (value?.kind) {
    case "choice":
      for (const item of value.shuffle ? inRandomOrder(value.items, options) : value.items)
        yield itemText(item, override);
      return;
    case "range": {
      const values = rangeValues(value, (problem) => cannotEnumerate(override, problem));
      if (value.shuffle && isEndlessRange(value))
        cannotEnumerate(override, "it never ends, so it cannot be shuffled");
      for (const number of value.shuffle ? inRandomOrder([...values], options) : values)
        yield typeof number === "number" ? floatRepr(number) : String(number);
      return;
    }
    case "glob":
      yield* globbed(value, override, options);
      return;
    case "union":
      for (const part of partsOf(value, override)) yield* sweepStrings(part, options);
      return;
    case "zip":
      return cannotEnumerate(override, "a zip has overrides, not values: use sweepOverrides");
    default:
      cannotEnumerate(override, "only a choice, a range or a glob has values to enumerate");
  }
}

const inRandomOrder = <T>(items: readonly T[], { random }: SweepOptions): readonly T[] =>
  shuffled(items, random ?? Math.random);

function itemText(item: OverrideValue, override: Override): string {
  try {
    return elementToString(item);
  } catch (error) {
    if (error instanceof ConfigError) cannotEnumerate(override, error.message);
    throw error;
  }
}

function globbed(
  { include, exclude }: GlobSweep,
  override: Override,
  { groupOptions }: SweepOptions,
): readonly string[] {
  if (groupOptions === undefined)
    return cannotEnumerate(override, "the options of the config group are unknown here");
  const matches = (name: string, patterns: readonly OverrideValue[]) =>
    patterns.some((pattern) => globMatches(name, patternOf(pattern, override)));
  return groupOptions(override.keyOrGroup).filter(
    (name) => matches(name, include) && !matches(name, exclude),
  );
}

function patternOf(pattern: OverrideValue, override: Override): string {
  if (pattern.kind !== "scalar" || typeof pattern.value !== "string")
    return cannotEnumerate(override, "a pattern of glob must be a string");
  // As in Hydra, direct arguments lose their quotes, and strings in lists keep them.
  if (pattern.quote !== undefined)
    return cannotEnumerate(
      override,
      `in a list of globs, write the pattern '${pattern.value}' without quotes`,
    );
  return pattern.value;
}

function cannotEnumerate({ origin }: Override, problem: string): never {
  throw new ConfigError({
    code: "override.function",
    message: `Cannot enumerate the sweep '${origin.text}': ${problem}`,
    origin,
  });
}

/** Whether a name matches a shell pattern, by the rules of Python's `fnmatch` on Linux. */
export const globMatches = (name: string, pattern: string): boolean =>
  matchesTokens(parsePattern(pattern), name, holds);

/** `[a-z]`, `[!a-z]`, or a character that matches itself. */
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
  for (let index = 0; index < chars.length; index++) {
    const char = chars[index];
    const end = char === "[" ? setEnd(chars, index) : -1;
    if (char === "*") tokens.push({ type: "many" });
    else if (char === "?") tokens.push({ type: "one" });
    else if (end < 0) tokens.push(literal(char));
    else {
      tokens.push(parseSet(chars.slice(index + 1, end)));
      index = end;
    }
  }
  return tokens;
}

/** The index of the `]` that closes a set, or -1. A `]` at the start of a set belongs to it. */
function setEnd(chars: readonly string[], open: number): number {
  const first = chars[open + 1] === "!" ? open + 2 : open + 1;
  return chars.indexOf("]", first + 1);
}

function parseSet(inside: readonly string[]): SetToken {
  const negated = inside[0] === "!";
  const chars = negated ? inside.slice(1) : inside;
  const ranges: CodeRange[] = [];
  for (let index = 0; index < chars.length; index++) {
    const first = codeOf(chars[index]);
    const isRange = chars[index + 1] === "-" && index + 2 < chars.length;
    ranges.push([first, isRange ? codeOf(chars[index + 2]) : first]);
    if (isRange) index += 2;
  }
  return { type: "set", negated, ranges };
}

const codeOf = (char: string | undefined): number => char?.codePointAt(0) ?? 0;

const literal = (char: string | undefined): SetToken => ({
  type: "set",
  negated: false,
  ranges: [[codeOf(char), codeOf(char)]],
});

/** The items in random order (Fisher and Yates). `random` yields numbers in [0, 1). */
export function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const out = [...items];
  for (let last = out.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const [a, b] = [out[last], out[other]];
    if (a === undefined || b === undefined) continue;
    out[last] = b;
    out[other] = a;
  }
  return out;
}
