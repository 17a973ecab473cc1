import {
  digitsBeyondPrecision,
  type FiniteDecimal,
  PRECISION,
  roundToPrecision,
} from "./decimal.ts";

/** Numbers at one distance from each other, as multiples of a power of ten. */
export interface Progression {
  readonly first: bigint;
  readonly increment: bigint;
  /** Null for one that never ends, since each sum is rounded to what it was. */
  readonly count: bigint | null;
}

/** Of ints from a start by a step up to, but not including, a stop: one progression, or none. */
export function intProgression(start: bigint, stop: bigint, step: bigint): readonly Progression[] {
  const isEmpty = step > 0n ? start >= stop : start <= stop;
  return isEmpty ? [] : [{ first: start, increment: step, count: ceilDivide(stop - start, step) }];
}

export interface DecimalSums {
  /** What the numbers are multiples of, as a power of ten. */
  readonly exponent: number;
  readonly progressions: Iterable<Progression>;
}

/**
 * The decimals from a start by a step up to, but not including, a stop, each rounded to the precision before the
 * next is made of it. Between two powers of ten all are rounded to the same digit, so that they are at one distance:
 * a range of millions of values is a few progressions.
 * @param stop null for none
 * @param step not zero
 */
export function decimalSums(
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
    // To round the start may lead away from the stop.
    const leads = stop !== null && increment * step > 0n;
    const left = leads ? ceilDivide(stop - first, increment) : null;
    const count = least(even, left);
    yield { first, increment, count };
    if (count === null) return;
    first += increment * count;
  }
}

/** How many sums in a row are at the distance of the first; null for all of them. */
function sumsOfOneDistance(first: bigint, step: bigint, increment: bigint): bigint | null {
  const sum = first + step;
  const beyond = digitsBeyondPrecision(sum);
  const unit = 10n ** BigInt(beyond);
  // What is no multiple of the last digit becomes one. Half of it is rounded to even, which what follows is already.
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
