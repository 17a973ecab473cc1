import { parsePythonInt } from "../../python-number.ts";
import { TAG } from "../syntax-node.ts";
import { invalid, textOf, type ValueTag } from "./tag-constructor.ts";

const DIGITS: ReadonlyMap<number, RegExp> = new Map([
  [2, /^[01]+$/],
  [8, /^[0-7]+$/],
  [16, /^[0-9a-fA-F]+$/],
]);
const PREFIX: ReadonlyMap<number, string> = new Map([
  [2, "0b"],
  [8, "0o"],
  [16, "0x"],
]);
/** Texts that need no more than a conversion: nearly all integers there are. */
const SMALL_DECIMAL = /^(?:0|[1-9][0-9]{0,14})$/;

/** YAML 1.1: `0b101`, `017` (octal), `0x1F`, `1:30` (sexagesimal), underscores anywhere. */
export const INTEGER: ValueTag = {
  kind: "value",
  tag: TAG.integer,
  construct(node, construction) {
    const text = textOf(node, construction);
    const value = parseYamlInteger(text);
    if (value === null)
      throw invalid(node, construction, `invalid literal for an integer: '${text}'`);
    return construction.scalar(node, value);
  },
};

function parseYamlInteger(text: string): bigint | null {
  if (SMALL_DECIMAL.test(text)) return BigInt(text);
  const plain = text.replaceAll("_", "");
  const unsigned = /^[-+]/.test(plain) ? plain.slice(1) : plain;
  const magnitude = parseMagnitude(unsigned);
  if (magnitude === null) return null;
  return plain[0] === "-" ? -magnitude : magnitude;
}

function parseMagnitude(text: string): bigint | null {
  if (text === "0") return 0n;
  if (text.startsWith("0b")) return parseRadix(text.slice(2), 2);
  if (text.startsWith("0x")) return parseRadix(text.slice(2), 16);
  if (text.startsWith("0")) return parseRadix(text, 8);
  if (text.includes(":")) return parseSexagesimal(text);
  return parsePythonInt(text);
}

/** Python's `int(text, radix)`, which accepts the prefix of that radix too. */
function parseRadix(text: string, radix: 2 | 8 | 16): bigint | null {
  const trimmed = text.trim().toLowerCase();
  const negative = trimmed.startsWith("-");
  const unsigned = /^[-+]/.test(trimmed) ? trimmed.slice(1) : trimmed;
  const prefix = PREFIX.get(radix) ?? "";
  const digits = unsigned.startsWith(prefix) ? unsigned.slice(prefix.length) : unsigned;
  if (DIGITS.get(radix)?.test(digits) !== true) return null;
  const value = BigInt(prefix + digits);
  return negative ? -value : value;
}

function parseSexagesimal(text: string): bigint | null {
  let value = 0n;
  for (const part of text.split(":")) {
    const digit = parsePythonInt(part);
    if (digit === null) return null;
    value = value * 60n + digit;
  }
  return value;
}
