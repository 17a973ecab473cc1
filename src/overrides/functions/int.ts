import { parsePythonInt } from "../../values/python-number.ts";
import { pyRepr } from "../../values/python-text.ts";
import type { PythonNumber } from "../ast.ts";
import { castFunction } from "./cast.ts";
import type { Call } from "./function.ts";
import { fail } from "./function.ts";

/** Python's `int()`: floats are truncated, strings parsed with blanks and underscores. */
export const int = castFunction({
  name: "int",
  scalar(value, call) {
    if (typeof value !== "string") return toInt(value, call);
    return parsePythonInt(value) ?? fail(call, `${pyRepr(value)} is not an int`);
  },
  bound: toInt,
});

function toInt(value: PythonNumber, call: Call): bigint {
  if (typeof value === "number" && !Number.isFinite(value))
    fail(call, Number.isNaN(value) ? "nan is not an int" : "infinity is not an int");
  return BigInt(typeof value === "number" ? Math.trunc(value) : value);
}
