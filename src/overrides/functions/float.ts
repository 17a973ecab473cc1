import { parsePythonFloat } from "../../values/python-number.ts";
import { pyRepr } from "../../values/python-text.ts";
import { castFunction } from "./cast.ts";
import { fail } from "./function.ts";
import { toFloat } from "./numbers.ts";

/** Python's `float()`: strings may hold blanks, underscores, `inf` and `nan`. */
export const float = castFunction({
  name: "float",
  scalar(value, call) {
    if (typeof value !== "string") return toFloat(value, call);
    return parsePythonFloat(value) ?? fail(call, `${pyRepr(value)} is not a float`);
  },
  bound: toFloat,
});
