import type { PythonNumber, RangeSweep } from "./ast.ts";
import type { Decimal } from "./decimal.ts";
import { addDecimals, compareDecimals, decimalToNumber, toDecimal } from "./decimal.ts";

/** Why a range has no values to enumerate. */
export type RangeProblem = "its step is zero" | "nan cannot be compared";

type Fail = (problem: RangeProblem) => never;

/**
 * The values of a range: ints if start, stop and step all are, else floats. Float ranges are summed
 * up in decimals made of the exact binary values, and each value is turned back into a float:
 * `range(0,1,0.1)` has 10 values of which the fourth is 0.3. A range may be endless, as in Hydra
 * (`isEndlessRange`).
 * @param fail called with the problem of a range that cannot be enumerated; must throw
 */
export function* rangeValues(range: RangeSweep, fail: Fail): Generator<bigint | number> {
  const [start, stop, step] = bounds(range);
  if (typeof start === "bigint" && typeof stop === "bigint" && typeof step === "bigint")
    yield* intValues(start, stop, step, fail);
  else yield* floatValues(decimal(start, fail), decimal(stop, fail), decimal(step, fail), fail);
}

/** Whether a range never reaches its stop: an infinite bound, or a step that 28 digits do not see. */
export function isEndlessRange(range: RangeSweep): boolean {
  const [start, stop, step] = bounds(range).map(toDecimal);
  if (start == null || stop == null || step == null) return false;
  const direction = compareDecimals(step, ZERO);
  if (direction === 0 || compareDecimals(start, stop) * direction >= 0) return false;
  if (stop.kind === "infinite") return true;
  return [start, stop].some((value) => isStuck(value, step));
}

/** Whether the second step leads nowhere; the first one may only have rounded the value. */
function isStuck(value: Decimal, step: Decimal): boolean {
  const next = addDecimals(value, step);
  const further = next && addDecimals(next, step);
  return next === null || further === null || compareDecimals(further, next) === 0;
}

function bounds({ start, stop, step }: RangeSweep): readonly [IntOrFloat, IntOrFloat, IntOrFloat] {
  return [intOrFloat(start), intOrFloat(stop), intOrFloat(step)];
}

type IntOrFloat = bigint | number;

const intOrFloat = (value: PythonNumber): IntOrFloat =>
  typeof value === "boolean" ? BigInt(value) : value;

const decimal = (value: IntOrFloat, fail: Fail): Decimal =>
  toDecimal(value) ?? fail("nan cannot be compared");

function* intValues(start: bigint, stop: bigint, step: bigint, fail: Fail): Generator<bigint> {
  if (step === 0n) fail("its step is zero");
  const ascending = step > 0n;
  for (let value = start; ascending ? value < stop : value > stop; value += step) yield value;
}

function* floatValues(start: Decimal, stop: Decimal, step: Decimal, fail: Fail): Generator<number> {
  const direction = compareDecimals(step, ZERO);
  if (direction === 0) fail("its step is zero");
  let value = start;
  while (compareDecimals(value, stop) * direction < 0) {
    yield decimalToNumber(value);
    value = addDecimals(value, step) ?? fail("nan cannot be compared");
  }
}

const ZERO: Decimal = { kind: "finite", coefficient: 0n, exponent: 0 };
