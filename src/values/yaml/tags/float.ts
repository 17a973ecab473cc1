import { parsePythonFloat } from "../../python-number.ts";
import { pyRepr } from "../../python-text.ts";
import { buildScalar } from "../construction.ts";
import { TAG } from "../syntax-node.ts";
import { invalid, textOf, type ValueTag } from "./tag-constructor.ts";

/** `1.5`, `1e3`, `.inf`, `.nan`, `1:30.5` (sexagesimal), underscores anywhere. */
export const FLOAT: ValueTag = {
  kind: "value",
  tag: TAG.float,
  construct(node, construction) {
    const text = textOf(node, construction);
    const value = parseYamlFloat(text);
    if (typeof value === "number") return buildScalar(node, value, construction);
    throw invalid(node, construction, `could not convert string to float: ${pyRepr(value)}`);
  },
};

/** The number, or what of the text is none: lower-cased, without underscores and sign. */
function parseYamlFloat(text: string): number | string {
  const plain = text.replaceAll("_", "").toLowerCase();
  const sign = plain.startsWith("-") ? -1 : 1;
  const unsigned = /^[-+]/.test(plain) ? plain.slice(1) : plain;
  if (unsigned === ".inf") return sign * Number.POSITIVE_INFINITY;
  if (unsigned === ".nan") return Number.NaN;
  const value = unsigned.includes(":") ? parseSexagesimal(unsigned) : parseDecimal(unsigned);
  return typeof value === "number" ? sign * value : value;
}

const parseDecimal = (text: string): number | string => parsePythonFloat(text) ?? text;

/** Summed from the last digit, as the rounding of the result depends on the order. */
function parseSexagesimal(text: string): number | string {
  let value = 0;
  let base = 1;
  for (const part of text.split(":").reverse()) {
    const digit = parseDecimal(part);
    if (typeof digit === "string") return digit;
    value += digit * base;
    base *= 60;
  }
  return value;
}
