import { parsePythonInt } from "../../python-number.ts";
import { pyRepr } from "../../python-text.ts";
import { buildScalar } from "../construction.ts";
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
    if (typeof value === "bigint") return buildScalar(node, value, construction);
    const shown = pyRepr(value.digits);
    throw invalid(
      node,
      construction,
      `invalid literal for int() with base ${value.radix}: ${shown}`,
    );
  },
};

/** What of a text is no number: without underscores, sign and, mostly, the prefix. */
interface NoInteger {
  readonly digits: string;
  readonly radix: number;
}

function parseYamlInteger(text: string): bigint | NoInteger {
  if (SMALL_DECIMAL.test(text)) return BigInt(text);
  const plain = text.replaceAll("_", "");
  const unsigned = /^[-+]/.test(plain) ? plain.slice(1) : plain;
  const magnitude = parseMagnitude(unsigned);
  if (typeof magnitude !== "bigint") return magnitude;
  return plain[0] === "-" ? -magnitude : magnitude;
}

function parseMagnitude(text: string): bigint | NoInteger {
  if (text === "0") return 0n;
  if (text.startsWith("0b")) return parseRadix(text.slice(2), 2);
  if (text.startsWith("0x")) return parseRadix(text.slice(2), 16);
  if (text.startsWith("0")) return parseRadix(text, 8);
  if (text.includes(":")) return parseSexagesimal(text);
  return parseDecimal(text);
}

const parseDecimal = (digits: string): bigint | NoInteger =>
  parsePythonInt(digits) ?? { digits, radix: 10 };

/** Python's `int(text, radix)`, which accepts the prefix of that radix too. */
function parseRadix(text: string, radix: 2 | 8 | 16): bigint | NoInteger {
  const trimmed = text.trim().toLowerCase();
  const negative = trimmed.startsWith("-");
  const unsigned = /^[-+]/.test(trimmed) ? trimmed.slice(1) : trimmed;
  const prefix = PREFIX.get(radix) ?? "";
  const digits = unsigned.startsWith(prefix) ? unsigned.slice(prefix.length) : unsigned;
  if (DIGITS.get(radix)?.test(digits) !== true) return { digits: text, radix };
  const value = BigInt(prefix + digits);
  return negative ? -value : value;
}

function parseSexagesimal(text: string): bigint | NoInteger {
  let value = 0n;
  for (const part of text.split(":")) {
    const digit = parseDecimal(part);
    if (typeof digit !== "bigint") return digit;
    value = value * 60n + digit;
  }
  return value;
}
