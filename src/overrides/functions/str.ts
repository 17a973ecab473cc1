import { floatRepr } from "../../values/python-number.ts";
import { castFunction } from "./cast.ts";

/** Python's `str()`, except that bools are in lower case. */
export const str = castFunction({
  name: "str",
  scalar: (value) => (typeof value === "number" ? floatRepr(value) : String(value)),
});
