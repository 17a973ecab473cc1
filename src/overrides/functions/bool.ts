import { castFunction } from "./cast.ts";
import { fail } from "./function.ts";

/** Python's truth value of numbers and null (nan is true); of strings only `true` and `false`. */
export const bool = castFunction({
  name: "bool",
  ofNull: false,
  scalar(value, call) {
    if (typeof value !== "string") return Number.isNaN(value) || Boolean(value);
    const word = value.toLowerCase();
    if (word === "true" || word === "false") return word === "true";
    return fail(call, `'${value}' is neither true nor false`);
  },
});
