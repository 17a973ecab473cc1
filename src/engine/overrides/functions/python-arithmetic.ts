/** Arithmetic of ints and floats as in Python. */
import type { OverrideValue, PythonNumber } from "../ast.ts";
import { type Call, fail } from "./function.ts";

/** The number in a value; null for a value of another type, null included. */
export function numberOf(value: OverrideValue | undefined): PythonNumber | null {
  if (value?.kind !== "scalar" || typeof value.value === "string") return null;
  return value.value;
}

/** `float(n)`. An int beyond the range of a double is an error, not an infinity. */
export function toFloat(value: PythonNumber, call: Call): number {
  const float = Number(value);
  if (typeof value === "bigint" && !Number.isFinite(float))
    fail(call, "the int is too large for a float");
  return float;
}

/** `a + b`: an int unless one of them is a float. */
export function add(a: PythonNumber, b: PythonNumber, call: Call): bigint | number {
  if (typeof a === "number" || typeof b === "number") return toFloat(a, call) + toFloat(b, call);
  return BigInt(a) + BigInt(b);
}

/** `-a`, where a bool counts as an int. */
export const negate = (a: PythonNumber): bigint | number =>
  typeof a === "number" ? -a : -BigInt(a);

/** `abs(a)`, where a bool counts as an int. */
export function absolute(a: PythonNumber): bigint | number {
  if (typeof a === "number") return Math.abs(a);
  const int = BigInt(a);
  return int < 0n ? -int : int;
}
