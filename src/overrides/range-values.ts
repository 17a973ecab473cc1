import type { PythonNumber, RangeSweep } from "./ast.ts";
import type { Decimal } from "./decimal.ts";
import { compareDecimals, decimalToNumber, toDecimal } from "./decimal.ts";
import { decimalSums, intProgression, type Progression } from "./progressions.ts";

/** Why a range has no values to enumerate. */
export type RangeProblem = "its step is zero" | "nan cannot be compared";

/** The values of a range that ends, each told without those before it. */
export interface RangeSequence {
  readonly count: bigint;
  /** @param index from 0 to below the count */
  at(index: bigint): bigint | number;
}

/**
 * The values of a range: ints if start, stop and step all are, else floats. Float ranges are summed
 * up in decimals made of the exact binary values, and each value is turned back into a float:
 * `range(0,1,0.1)` has 10 values of which the fourth is 0.3. A range may be endless, as in Hydra
 * (`isEndlessRange`).
 * @param fail called with the problem of a range that cannot be enumerated; must throw
 */
export function* rangeValues(
  range: RangeSweep,
  fail: (problem: RangeProblem) => never,
): Generator<bigint | number> {
  const { progressions, numberOf, problem } = enumerated(range);
  for (const { first, increment, count } of progressions) {
    let value = first;
    for (let index = 0n; count === null || index < count; index++) {
      yield numberOf(value);
      value += increment;
    }
  }
  if (problem !== undefined) fail(problem);
}

/** Whether a range never reaches its stop: an infinite bound, or a step that 28 digits do not see. */
export const isEndlessRange = (range: RangeSweep): boolean =>
  [...enumerated(range).progressions].some(({ count }) => count === null);

/** The same values by their index; undefined for a range that is endless or cannot be enumerated. */
export function rangeSequence(range: RangeSweep): RangeSequence | undefined {
  const { progressions, numberOf, problem } = enumerated(range);
  if (problem !== undefined) return undefined;
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
      return numberOf(first + (index - part.from) * increment);
    },
  };
}

interface Enumerated {
  readonly progressions: Iterable<Progression>;
  numberOf(number: bigint): bigint | number;
  /** What is wrong behind the last of them. */
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
  return floats(toDecimal(start), toDecimal(stop), toDecimal(step));
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
      // Of a start of -0 no later sum is zero.
      coefficient === 0n && start.negativeZero === true
        ? -0
        : decimalToNumber({ kind: "finite", coefficient, exponent }),
  };
}

/** The first value is the last one, or all there is for ever; opposite infinities have no sum. */
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
