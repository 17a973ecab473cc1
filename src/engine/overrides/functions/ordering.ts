/** The functions that order values: `sort` and `shuffle`. */
import type { ElementScalar, OverrideValue, RangeSweep } from "../ast.ts";
import { reversedRange } from "../range-values.ts";
import { shuffled } from "../sweep.ts";
import {
  BOOL,
  type BoundArguments,
  type Call,
  CHOICE_RANGE_OR_NULL,
  describeValue,
  ELEMENT_CHOICE_OR_RANGE,
  fail,
  LIST_OR_NULL,
  type OverrideFunction,
} from "./function.ts";
import { absolute, add, negate } from "./python-arithmetic.ts";
import { simpleChoice } from "./sweeps.ts";

/** `sort(3,1,2)`, `sort(choice(b,a))`, `sort([3,1],reverse=true)`, `sort(range(3))`. */
export const sort: OverrideFunction = {
  name: "sort",
  parameters: {
    rest: ELEMENT_CHOICE_OR_RANGE,
    named: [
      { name: "sweep", accepts: CHOICE_RANGE_OR_NULL },
      { name: "list", accepts: LIST_OR_NULL },
      { name: "reverse", accepts: BOOL },
    ],
  },
  evaluate(args, call) {
    const flag = args.get("reverse");
    const reverse = flag?.kind === "scalar" && flag.value === true;
    const input = singleInput(args) ?? sortableChoice(args.rest, call);
    const { span } = call;
    const order = call.dialect.sortsShuffled ? { shuffle: false } : {};
    if (input.kind === "range") return { ...sortRange(input, reverse, call), ...order, span };
    if (input.kind === "choice")
      return { ...input, items: pythonSorted(input.items, reverse, call), ...order, span };
    if (input.kind === "list")
      return { ...input, items: pythonSorted(input.items, reverse, call), span };
    return input;
  },
};

function sortableChoice(items: readonly OverrideValue[], call: Call) {
  if (items.length === 0) fail(call, "there is nothing to sort");
  if (items.some((item) => item.kind !== "scalar"))
    fail(call, "several arguments must be numbers or strings");
  return simpleChoice(items, call);
}

function sortRange(range: RangeSweep, reverse: boolean, call: Call): RangeSweep {
  if (!call.dialect.sortsRangeValues) return withBoundsExchanged(range, reverse, call);
  const { step } = range;
  return Number(step) > 0 === reverse
    ? reversedRange(range, (problem) => fail(call, problem))
    : range;
}

/**
 * Hydra 1.3 does not sort the values of a range but swaps its bounds, which changes the values if the bounds are not a
 * multiple of the step apart: `sort(range(10,0,-3))` is 3, 6, 9, 12.
 */
function withBoundsExchanged(range: RangeSweep, reverse: boolean, call: Call): RangeSweep {
  const { start, stop, step } = range;
  const wrongWay = reverse ? start < stop : start > stop;
  if (!wrongWay) return range;
  const shift = reverse ? negate(absolute(step)) : absolute(step);
  return {
    ...range,
    start: add(stop, shift, call),
    stop: add(start, shift, call),
    step: negate(step),
  };
}

/**
 * Python's `sorted`: stable, `reverse` keeps the order of equal items, and only values that Python's `<` can compare
 * are sorted: numbers (bools included), unquoted strings, and lists of these.
 */
function pythonSorted(
  items: readonly OverrideValue[],
  reverse: boolean,
  call: Call,
): readonly OverrideValue[] {
  const input = reverse ? items.toReversed() : items;
  const sorted = insertRest(leadingRun(input, call), input, call);
  return reverse ? sorted.toReversed() : sorted;
}

/**
 * Python's own algorithm for up to 64 items, used for any number, because its steps decide where a NaN, which is not
 * less than anything, ends up. It takes the longest ascending (or strictly descending, then reversed) run at the start,
 * and inserts the other items by binary search.
 */
function leadingRun(items: readonly OverrideValue[], call: Call): readonly OverrideValue[] {
  const descending = isLessAt(items, 1, call) === true;
  let length = Math.min(1, items.length);
  while (isLessAt(items, length, call) === descending) length++;
  const run = items.slice(0, length);
  return descending ? run.reverse() : run;
}

/** Whether the item at an index is less than the one before; null where one of them is absent. */
function isLessAt(items: readonly OverrideValue[], index: number, call: Call): boolean | null {
  const [previous, item] = [items[index - 1], items[index]];
  return previous === undefined || item === undefined ? null : isLess(item, previous, call);
}

function insertRest(
  run: readonly OverrideValue[],
  items: readonly OverrideValue[],
  call: Call,
): readonly OverrideValue[] {
  const out = [...run];
  for (const item of items.slice(run.length)) out.splice(insertionPoint(out, item, call), 0, item);
  return out;
}

function insertionPoint(sorted: readonly OverrideValue[], item: OverrideValue, call: Call): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = sorted[middle];
    if (other === undefined) break;
    if (isLess(item, other, call)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function isLess(a: OverrideValue, b: OverrideValue, call: Call): boolean {
  if (a.kind === "list" && b.kind === "list") return isLessList(a.items, b.items, call);
  if (
    a.kind === "scalar" &&
    b.kind === "scalar" &&
    a.quote === undefined &&
    b.quote === undefined
  ) {
    const [x, y] = [a.value, b.value];
    if (typeof x === "string" && typeof y === "string") return comparePoints(x, y) < 0;
    if (x !== null && y !== null && typeof x !== "string" && typeof y !== "string") return x < y;
  }
  const quotes = a.kind === "scalar" && a.quote !== undefined ? " (strings in quotes)" : "";
  return fail(call, `cannot compare ${describeValue(a)} with ${describeValue(b)}${quotes}`);
}

function isLessList(a: readonly OverrideValue[], b: readonly OverrideValue[], call: Call): boolean {
  for (const [index, x] of a.entries()) {
    const y = b[index];
    if (y === undefined) return false;
    if (!areEqual(x, y)) return isLess(x, y, call);
  }
  return a.length < b.length;
}

/** Python's `==`, where a number never equals a string and `1 == 1.0 == True`. */
function areEqual(a: OverrideValue, b: OverrideValue): boolean {
  if (a === b) return true;
  if (a.kind === "scalar" && b.kind === "scalar")
    return areEqualScalars(a.value, b.value, a.quote === b.quote);
  if (a.kind === "list" && b.kind === "list")
    return (
      a.items.length === b.items.length && a.items.every((item, i) => equalsAt(item, b.items, i))
    );
  if (a.kind !== "dict" || b.kind !== "dict" || a.entries.size !== b.entries.size) return false;
  return [...a.entries].every(([id, { value }]) => {
    const other = b.entries.get(id);
    return other !== undefined && areEqual(value, other.value);
  });
}

function equalsAt(item: OverrideValue, others: readonly OverrideValue[], index: number): boolean {
  const other = others[index];
  return other !== undefined && areEqual(item, other);
}

function areEqualScalars(a: ElementScalar, b: ElementScalar, sameQuotes: boolean): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b && sameQuotes;
  if (a === null || b === null) return a === b;
  // Loose equality is exact between bigint and number, and counts true as 1.
  return !(a < b) && !(a > b) && !Number.isNaN(a) && !Number.isNaN(b);
}

/** Python compares strings by code point, JavaScript by UTF-16 code unit. */
function comparePoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (const [index, char] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (char !== other) return (char.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return left.length - right.length;
}

/**
 * `shuffle(a,b)`, `shuffle(choice(a,b))`, `shuffle(range(3))`: a sweep whose order is drawn when it is enumerated.
 * `shuffle([a,b])` is not a sweep but a list, shuffled when it is evaluated.
 */
export const shuffle: OverrideFunction = {
  name: "shuffle",
  parameters: {
    rest: ELEMENT_CHOICE_OR_RANGE,
    named: [
      { name: "sweep", accepts: CHOICE_RANGE_OR_NULL },
      { name: "list", accepts: LIST_OR_NULL },
    ],
  },
  evaluate(args, call) {
    const input = singleInput(args);
    if (input === null) return { ...simpleChoice(args.rest, call), shuffle: true };
    const { span, random } = call;
    if (input.kind === "choice" || input.kind === "range") return { ...input, shuffle: true, span };
    if (input.kind === "list") return { kind: "list", items: shuffled(input.items, random), span };
    return { kind: "list", items: [input], span };
  },
};

/**
 * The argument `list`, otherwise `sweep`, otherwise the only positional argument; null if there are several or none.
 */
function singleInput({ rest, get }: BoundArguments): OverrideValue | null {
  const named = [get("list"), get("sweep")].find(
    (value) => value !== undefined && !(value.kind === "scalar" && value.value === null),
  );
  if (named !== undefined) return named;
  const [only] = rest;
  return rest.length === 1 && only !== undefined ? only : null;
}
