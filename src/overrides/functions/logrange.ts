import type { ElementScalar, OverrideValue } from "../ast.ts";
import { NUMBER } from "./accept.ts";
import type { BoundArguments, Call, OverrideFunction } from "./function.ts";
import { fail } from "./function.ts";
import { numberOf, toFloat } from "./numbers.ts";

/** More values than anybody means: they are all made at once. */
const MAX_VALUES = 100_000;

/** Digits of a value that are kept, so that 0.001 is not 0.0010000000000000002. */
const DIGITS = 12;

/**
 * `logrange(start,stop,num)`: a choice of `num` numbers with equal ratios from start to stop, both
 * included. `logrange(start,stop,steps=1,base=10)`: from start, `steps` numbers per factor of
 * `base`, up to stop if it is one of them; ints where start, stop and base are ints and steps is 1.
 * Ours: Hydra 1.3 has no such function.
 */
export const logrange: OverrideFunction = {
  name: "logrange",
  parameters: {
    named: [
      { name: "start", accepts: NUMBER, required: true },
      { name: "stop", accepts: NUMBER, required: true },
      { name: "num", accepts: NUMBER },
      { name: "steps", accepts: NUMBER },
      { name: "base", accepts: NUMBER },
    ],
  },
  evaluate(args, call) {
    const values = args.get("num") === undefined ? byBase(args, call) : byCount(args, call);
    const items = values.map(
      (value): OverrideValue => ({ kind: "scalar", value, span: call.span }),
    );
    return { kind: "choice", items, simple: false, shuffle: false, tags: [], span: call.span };
  },
};

function byCount(args: BoundArguments, call: Call): readonly number[] {
  if (args.get("steps") !== undefined || args.get("base") !== undefined)
    fail(call, "num sets the number of values: give it without steps and base");
  const start = positive("start", args, call);
  const stop = positive("stop", args, call);
  const num = wholeNumber("num", 2, args, call);
  const last = num - 1;
  const ratio = Math.log(stop / start) / last;
  return Array.from({ length: num }, (_, index) => {
    if (index === 0) return start;
    return index === last ? stop : tidy(start * Math.exp(ratio * index));
  });
}

function byBase(args: BoundArguments, call: Call): readonly ElementScalar[] {
  const start = positive("start", args, call);
  const stop = positive("stop", args, call);
  const steps = args.get("steps") === undefined ? 1 : wholeNumber("steps", 1, args, call);
  const base = args.get("base") === undefined ? 10 : positive("base", args, call);
  if (base <= 1) fail(call, "the argument 'base' must be greater than 1");
  const direction = stop < start ? -1 : 1;
  const distance = (Math.abs(Math.log(stop / start)) / Math.log(base)) * steps;
  const count = Math.floor(distance + 1e-9) + 1;
  if (count > MAX_VALUES) fail(call, `it has ${count} values, more than ${MAX_VALUES}`);
  const values = Array.from({ length: count }, (_, index) =>
    index === 0 ? start : tidy(start * base ** ((direction * index) / steps)),
  );
  const areInts = ["start", "stop", "base"].every((name) => isInt(name, args));
  return areInts && steps === 1 && values.every(Number.isSafeInteger) ? values.map(BigInt) : values;
}

const tidy = (value: number): number =>
  Number.isSafeInteger(value) ? value : Number(value.toPrecision(DIGITS));

/** Absent is an int: the default base is. */
function isInt(name: string, args: BoundArguments): boolean {
  const value = args.get(name);
  return value === undefined || typeof numberOf(value) === "bigint";
}

function positive(name: string, args: BoundArguments, call: Call): number {
  const value = toFloat(numberOf(args.get(name)) ?? 0n, call);
  if (!(value > 0 && value < Infinity))
    fail(call, `the argument '${name}' must be a number greater than 0`);
  return value;
}

function wholeNumber(name: string, least: number, args: BoundArguments, call: Call): number {
  const value = numberOf(args.get(name));
  const number = typeof value === "bigint" ? Number(value) : Number.NaN;
  if (!(number >= least && number <= MAX_VALUES))
    fail(call, `the argument '${name}' must be an int from ${least} to ${MAX_VALUES}`);
  return number;
}
