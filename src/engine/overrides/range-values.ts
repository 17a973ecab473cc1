/** The values of `range`, with Python's arithmetic of decimals. */
import type { PythonNumber, RangeSweep } from "./ast.ts";

/** Why a range has no values to enumerate. */
export type RangeProblem =
  | "its step is zero"
  | "nan cannot be compared"
  | "a bool is no decimal"
  | "infinity is no int";

/** The values of a finite range, each computed from its index alone. */
export interface RangeSequence {
  readonly count: bigint;
  /** @param index from 0 to below the count */
  at(index: bigint): bigint | number;
}

/**
 * The values of a range: ints if start, stop and step are ints, otherwise floats. Floats are added as decimals with the
 * exact binary values, and each sum is converted back to a float: `range(0,1,0.1)` has 10 values of which the fourth is
 * 0.3. If `decimals` is `shown`, the decimals have the digits that Python prints of the bounds. A range may be endless,
 * as in Hydra (`isEndlessRange`).
 * @param fail called with the problem of a range that cannot be enumerated; must throw
 */
export function* rangeValues(
  range: RangeSweep,
  fail: (problem: RangeProblem) => never,
): Generator<bigint | number> {
  const cast = castOf(range, () => fail("infinity is no int"));
  const { progressions, numberOf, problem } = enumerated(range);
  for (const { first, increment, count } of progressions) {
    let value = first;
    for (let index = 0n; count === null || index < count; index++) {
      yield cast(numberOf(value));
      value += increment;
    }
  }
  if (problem !== undefined) fail(problem);
}

type Numbers = (number: bigint | number) => bigint | number;

/**
 * The casts of each value of a range, as Python's `int()` and `float()`.
 * @param fail called for a number that has no int; must throw
 */
function castOf({ casts = [] }: RangeSweep, fail: () => never): Numbers {
  return (number) =>
    casts.reduce<bigint | number>((value, cast) => {
      if (cast === "float") return Number(value);
      if (typeof value === "bigint") return value;
      return Number.isFinite(value) ? BigInt(Math.trunc(value)) : fail();
    }, number);
}

/** Whether a range never reaches its stop: an infinite bound, or a step too small to change a sum of 28 digits. */
export const isEndlessRange = (range: RangeSweep): boolean =>
  [...enumerated(range).progressions].some(({ count }) => count === null);

/** The same values by their index; undefined for an endless range, or one that cannot be enumerated. */
export function rangeSequence(range: RangeSweep): RangeSequence | undefined {
  const { progressions, numberOf, problem } = enumerated(range);
  if (problem !== undefined) return undefined;
  const cast = castOf(range, () => {
    throw new RangeError("A sequence has finite values");
  });
  const parts: { readonly from: bigint; readonly progression: Progression }[] = [];
  let total = 0n;
  for (const progression of progressions) {
    if (progression.count === null) return undefined;
    parts.push({ from: total, progression });
    total += progression.count;
  }
  return {
    count: total,
    at(index) {
      const part = parts.findLast(({ from }) => from <= index);
      if (part === undefined || index >= total)
        throw new RangeError(`There is no value ${index} of ${total}`);
      const { first, increment } = part.progression;
      return cast(numberOf(first + (index - part.from) * increment));
    },
  };
}

interface Enumerated {
  readonly progressions: Iterable<Progression>;
  numberOf(number: bigint): bigint | number;
  /** The problem that follows the last value. */
  readonly problem?: RangeProblem;
}

function enumerated(range: RangeSweep): Enumerated {
  const start = intOrFloat(range.start);
  const stop = intOrFloat(range.stop);
  const step = intOrFloat(range.step);
  if (typeof start === "bigint" && typeof stop === "bigint" && typeof step === "bigint")
    return step === 0n
      ? nothing("its step is zero")
      : { progressions: intProgression(start, stop, step), numberOf: (value) => value };
  return range.decimals === "shown"
    ? shownFloats(range)
    : floats(toDecimal(start), toDecimal(stop), toDecimal(step));
}

interface ShownBounds {
  readonly start: Decimal;
  readonly stop: Decimal;
  readonly step: Decimal;
}

/**
 * The bounds as decimals with the digits that Python prints. Hydra converts their text, and the text of a bool is not a
 * number.
 */
function shownBounds({ start, step, stop }: RangeSweep): ShownBounds | RangeProblem {
  if ([start, stop, step].some((bound) => typeof bound === "boolean"))
    return "a bool is no decimal";
  const [from, to, by] = [shownDecimal(start), shownDecimal(stop), shownDecimal(step)];
  if (from === null || to === null || by === null) return "nan cannot be compared";
  return { start: from, stop: to, step: by };
}

/** Each value is the start plus a multiple of the step, so that rounding errors do not accumulate. */
function shownFloats(range: RangeSweep): Enumerated {
  const bounds = shownBounds(range);
  if (typeof bounds === "string") return nothing(bounds);
  const { start, step, stop } = bounds;
  // Hydra first multiplies the step by zero, which gives NaN for an infinite one.
  if (step.kind === "infinite") return nothing("nan cannot be compared");
  const direction = compareDecimals(step, ZERO);
  if (direction === 0) return nothing("its step is zero");
  if (compareDecimals(start, stop) * direction >= 0) return nothing();
  if (start.kind === "infinite") return toInfinity(start, step);
  const exponent = Math.min(
    start.exponent,
    step.exponent,
    stop.kind === "finite" ? stop.exponent : 0,
  );
  const first = scaledTo(start, exponent);
  const increment = scaledTo(step, exponent);
  const count =
    stop.kind === "infinite" ? null : ceilDivide(scaledTo(stop, exponent) - first, increment);
  const isNegativeZero = start.negativeZero === true && direction < 0;
  return {
    progressions: [{ first, increment, count }],
    numberOf: (coefficient) =>
      coefficient === 0n && isNegativeZero
        ? -0
        : decimalToNumber({ kind: "finite", coefficient, exponent }),
  };
}

/** The decimal with the digits that Python prints of a number. Null for a NaN. */
function shownDecimal(value: PythonNumber): Decimal | null {
  if (typeof value !== "number" || !Number.isFinite(value) || value === 0)
    return toDecimal(intOrFloat(value));
  const [digits = "", power = "0"] = value.toExponential().split("e");
  const fraction = digits.split(".")[1] ?? "";
  return {
    kind: "finite",
    coefficient: BigInt(digits.replace(".", "")),
    exponent: Number(power) - fraction.length,
  };
}

/**
 * The range with the same values in reverse order. Its stop lies one step before the first value, or half a step if the
 * bounds are floats.
 */
export function reversedRange(
  range: RangeSweep,
  fail: (problem: RangeProblem) => never,
): RangeSweep {
  const { start, step, stop } = range;
  const ints = [start, stop, step].every((bound) => typeof bound !== "number");
  const { problem } = ints ? enumerated(range) : reversible(range);
  if (problem !== undefined) fail(problem);
  const { casts: _, ...uncast } = range;
  const values = rangeSequence(uncast);
  if (values === undefined || values.count < 2n) return range;
  const last = values.at(values.count - 1n);
  if (ints) {
    const back = -BigInt(step);
    return { ...range, start: last, stop: BigInt(start) + back, step: back };
  }
  return { ...range, start: last, stop: halfStepBefore(range), step: -Number(step) };
}

/** Hydra computes the number of steps between the bounds, which fails if one of them is infinite. */
function reversible(range: RangeSweep): { readonly problem?: RangeProblem } {
  const bounds = shownBounds(range);
  if (typeof bounds === "string") return { problem: bounds };
  const isEndless = bounds.start.kind === "infinite" || bounds.stop.kind === "infinite";
  return isEndless ? { problem: "nan cannot be compared" } : {};
}

/** The number half a step before the start of a range. */
function halfStepBefore({ start, step }: RangeSweep): number {
  const [from, by] = [shownDecimal(start), shownDecimal(step)];
  if (from?.kind !== "finite" || by?.kind !== "finite") return Number.NaN;
  const exponent = Math.min(from.exponent, by.exponent) - 1;
  const coefficient = scaledTo(from, exponent) - scaledTo(by, exponent) / 2n;
  return decimalToNumber({ kind: "finite", coefficient, exponent });
}

const intOrFloat = (value: PythonNumber): bigint | number =>
  typeof value === "boolean" ? BigInt(value) : value;

function floats(start: Decimal | null, stop: Decimal | null, step: Decimal | null): Enumerated {
  if (start === null || stop === null || step === null) return nothing("nan cannot be compared");
  const direction = compareDecimals(step, ZERO);
  if (direction === 0) return nothing("its step is zero");
  if (compareDecimals(start, stop) * direction >= 0) return nothing();
  if (start.kind === "infinite" || step.kind === "infinite") return toInfinity(start, step);
  const end = stop.kind === "infinite" ? null : stop;
  const { exponent, progressions } = decimalSums(start, end, step);
  return {
    progressions,
    numberOf: (coefficient) =>
      // If the start is -0, no later sum is zero.
      coefficient === 0n && start.negativeZero === true
        ? -0
        : decimalToNumber({ kind: "finite", coefficient, exponent }),
  };
}

/** The first value is the only one (infinite step), or repeats forever; the sum of opposite infinities is NaN. */
function toInfinity(start: Decimal, step: Decimal): Enumerated {
  const count = step.kind === "infinite" ? 1n : null;
  return {
    progressions: [{ first: 0n, increment: 0n, count }],
    numberOf: () => decimalToNumber(start),
    ...(start.kind === step.kind && { problem: "nan cannot be compared" }),
  };
}

const nothing = (problem?: RangeProblem): Enumerated => ({
  progressions: [],
  numberOf: Number,
  ...(problem !== undefined && { problem }),
});

const ZERO: Decimal = { kind: "finite", coefficient: 0n, exponent: 0 };

/** Numbers at equal distances, as multiples of a power of ten. */
interface Progression {
  readonly first: bigint;
  readonly increment: bigint;
  /** Null for an endless progression, in which each sum is rounded back to its first summand. */
  readonly count: bigint | null;
}

/** The ints from a start to a stop (exclusive): one progression, or none. */
function intProgression(start: bigint, stop: bigint, step: bigint): readonly Progression[] {
  const isEmpty = step > 0n ? start >= stop : start <= stop;
  return isEmpty ? [] : [{ first: start, increment: step, count: ceilDivide(stop - start, step) }];
}

interface DecimalSums {
  /** The power of ten that the numbers are multiples of. */
  readonly exponent: number;
  readonly progressions: Iterable<Progression>;
}

/**
 * The decimals from a start to a stop (exclusive), each rounded to the precision before the step is added again.
 * Between two powers of ten all are rounded to the same digit and have equal distances, so a range of millions of
 * values is a few progressions.
 * @param stop null for none
 * @param step not zero
 */
function decimalSums(
  start: FiniteDecimal,
  stop: FiniteDecimal | null,
  step: FiniteDecimal,
): DecimalSums {
  const exponent = Math.min(start.exponent, step.exponent, stop?.exponent ?? 0);
  const scaled = (value: FiniteDecimal) =>
    value.coefficient * 10n ** BigInt(value.exponent - exponent);
  return {
    exponent,
    progressions: progressionsOf(scaled(start), stop && scaled(stop), scaled(step)),
  };
}

function* progressionsOf(start: bigint, stop: bigint | null, step: bigint): Generator<Progression> {
  const isBefore = (value: bigint) => stop === null || (step > 0n ? value < stop : value > stop);
  let first = start;
  while (isBefore(first)) {
    const next = roundToPrecision(first + step);
    const increment = next - first;
    const even = sumsOfOneDistance(first, step, increment);
    // Rounding the start may move it away from the stop.
    const leads = stop !== null && increment * step > 0n;
    const left = leads ? ceilDivide(stop - first, increment) : null;
    const count = least(even, left);
    yield { first, increment, count };
    if (count === null) return;
    first += increment * count;
  }
}

/** How many consecutive sums have the distance `increment` from the one before; null for all of them. */
function sumsOfOneDistance(first: bigint, step: bigint, increment: bigint): bigint | null {
  const sum = first + step;
  const beyond = digitsBeyondPrecision(sum);
  const unit = 10n ** BigInt(beyond);
  // A number that is no multiple of the last digit is rounded to one, once. A step of half the last digit is rounded to
  // even, and all numbers after that are even.
  if (first % unit !== 0n) return 1n;
  if (2n * (step % unit) === (step < 0n ? -unit : unit) && (first / unit) % 2n !== 0n) return 1n;
  if (increment === 0n) return null;
  return (lastOfItsDigits(sum, beyond, step > 0n) - sum) / increment + 1n;
}

/** The last number, up or down from a sum, that is rounded to the same digit. */
function lastOfItsDigits(sum: bigint, beyond: number, isUp: boolean): bigint {
  const end = 10n ** BigInt(PRECISION + beyond);
  if (beyond === 0) return isUp ? end - 1n : 1n - end;
  const growing = isUp === sum > 0n;
  const magnitude = growing ? end - 1n : end / 10n;
  return sum > 0n ? magnitude : -magnitude;
}

const least = (a: bigint | null, b: bigint | null): bigint | null =>
  a === null || (b !== null && b < a) ? b : a;

const ceilDivide = (span: bigint, by: bigint): bigint => (span + by - (by > 0n ? 1n : -1n)) / by;

/**
 * The part of Python's `decimal` that float ranges need: exact values of doubles and ints, and sums
 * rounded to 28 significant digits, half to even (the default context).
 */
export type Decimal = FiniteDecimal | { readonly kind: "infinite"; readonly negative: boolean };

/** `coefficient * 10 ** exponent`. */
export interface FiniteDecimal {
  readonly kind: "finite";
  readonly coefficient: bigint;
  readonly exponent: number;
  /** Decimals distinguish -0, as floats do; no sum here is -0. */
  readonly negativeZero?: boolean;
}

const PRECISION = 28;

/** The exact value, `Decimal(value)`. Null for a NaN, which `decimal` refuses to compare. */
export function toDecimal(value: bigint | number): Decimal | null {
  if (typeof value === "bigint") return { kind: "finite", coefficient: value, exponent: 0 };
  if (Number.isNaN(value)) return null;
  if (!Number.isFinite(value)) return { kind: "infinite", negative: value < 0 };
  if (Object.is(value, -0))
    return { kind: "finite", coefficient: 0n, exponent: 0, negativeZero: true };
  const { mantissa, power } = binaryParts(value);
  if (power >= 0) return { kind: "finite", coefficient: mantissa << BigInt(power), exponent: 0 };
  // m / 2**k = m * 5**k / 10**k
  return { kind: "finite", coefficient: mantissa * 5n ** BigInt(-power), exponent: power };
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. Exact. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  if (a.kind === "infinite" || b.kind === "infinite") return infiniteSign(a) - infiniteSign(b);
  const exponent = Math.min(a.exponent, b.exponent);
  const difference = scaledTo(a, exponent) - scaledTo(b, exponent);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The nearest double. */
export function decimalToNumber(value: Decimal): number {
  if (value.kind === "infinite")
    return value.negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return value.negativeZero ? -0 : Number(`${value.coefficient}e${value.exponent}`);
}

/** The number of digits of a sum's coefficient beyond the precision. */
const digitsBeyondPrecision = (coefficient: bigint): number =>
  Math.max(0, String(coefficient < 0n ? -coefficient : coefficient).length - PRECISION);

/** The coefficient of a sum rounded to the precision, with zeros in place of the digits beyond it. */
export function roundToPrecision(coefficient: bigint): bigint {
  const unit = 10n ** BigInt(digitsBeyondPrecision(coefficient));
  const quotient = coefficient / unit;
  const remainder = coefficient % unit;
  const twice = (remainder < 0n ? -remainder : remainder) * 2n;
  const away = twice > unit || (twice === unit && quotient % 2n !== 0n);
  const step = coefficient < 0n ? -1n : 1n;
  return (away ? quotient + step : quotient) * unit;
}

const scaledTo = ({ coefficient, exponent }: FiniteDecimal, target: number): bigint =>
  coefficient * 10n ** BigInt(exponent - target);

function infiniteSign(value: Decimal): number {
  if (value.kind === "finite") return 0;
  return value.negative ? -1 : 1;
}

/** A double as `mantissa * 2 ** power`, exactly. */
function binaryParts(value: number): { readonly mantissa: bigint; readonly power: number } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  const magnitude = biased === 0 ? fraction : fraction | 0x10000000000000n;
  return { mantissa: value < 0 ? -magnitude : magnitude, power: Math.max(biased, 1) - 1075 };
}
