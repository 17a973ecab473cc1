import { parsePythonFloat } from "../../python-number.ts";
import { TAG } from "../syntax-node.ts";
import { invalid, textOf, type ValueTag } from "./tag-constructor.ts";

/** `1.5`, `1e3`, `.inf`, `.nan`, `1:30.5` (sexagesimal), underscores anywhere. */
export const FLOAT: ValueTag = {
  kind: "value",
  tag: TAG.float,
  construct(node, construction) {
    const text = textOf(node, construction);
    const value = parseYamlFloat(text);
    if (value === null)
      throw invalid(node, construction, `could not convert string to float: '${text}'`);
    return construction.scalar(node, value);
  },
};

function parseYamlFloat(text: string): number | null {
  const plain = text.replaceAll("_", "").toLowerCase();
  const sign = plain.startsWith("-") ? -1 : 1;
  const unsigned = /^[-+]/.test(plain) ? plain.slice(1) : plain;
  if (unsigned === ".inf") return sign * Number.POSITIVE_INFINITY;
  if (unsigned === ".nan") return Number.NaN;
  const value = unsigned.includes(":") ? parseSexagesimal(unsigned) : parsePythonFloat(unsigned);
  return value === null ? null : sign * value;
}

/** Summed from the last digit, as the rounding of the result depends on the order. */
function parseSexagesimal(text: string): number | null {
  let value = 0;
  let base = 1;
  for (const part of text.split(":").reverse()) {
    const digit = parsePythonFloat(part);
    if (digit === null) return null;
    value += digit * base;
    base *= 60;
  }
  return value;
}
