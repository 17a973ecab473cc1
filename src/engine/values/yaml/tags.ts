/** The constructors of YAML's tags, as PyYAML and OmegaConf have them. */

import { fromBase64 } from "../../../foundation/text/bytes.ts";
import { parsePythonFloat, parsePythonInt, pyRepr } from "../python-text.ts";
import {
  buildAs,
  buildForeign,
  buildScalar,
  fillMapping,
  invalid,
  itemsOf,
  type ListTag,
  type MapTag,
  originOf,
  type TagConstructor,
  textOf,
  type ValueTag,
} from "./construction.ts";
import { type SyntaxNode, TAG } from "./syntax-node.ts";

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["yes", true],
  ["no", false],
  ["true", true],
  ["false", false],
  ["on", true],
  ["off", false],
]);

const STRING: ValueTag = {
  kind: "value",
  tag: TAG.string,
  construct: (node, construction) => buildScalar(node, textOf(node, construction), construction),
};

/** For any text: `!!null abc` is null too. */
const NULL: ValueTag = {
  kind: "value",
  tag: TAG.null,
  construct(node, construction) {
    textOf(node, construction);
    return buildScalar(node, null, construction);
  },
};

const BOOLEAN: ValueTag = {
  kind: "value",
  tag: TAG.boolean,
  construct(node, construction) {
    const text = textOf(node, construction);
    const value = BOOLEANS.get(text.toLowerCase());
    if (value === undefined) throw invalid(node, construction, `'${text}' is not a boolean`);
    return buildScalar(node, value, construction);
  },
};

/** OmegaConf does not read timestamps: only an explicit tag makes one, and it is refused. */
const TIMESTAMP: ValueTag = {
  kind: "value",
  tag: "tag:yaml.org,2002:timestamp",
  construct(node, construction) {
    const text = textOf(node, construction);
    return buildForeign(node, text.length > 10 ? "datetime" : "date", construction);
  },
};

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
/** Integers that need only a conversion: nearly all of them. */
const SMALL_DECIMAL = /^(?:0|[1-9][0-9]{0,14})$/;

/** YAML 1.1: `0b101`, `017` (octal), `0x1F`, `1:30` (sexagesimal), underscores anywhere. */
const INTEGER: ValueTag = {
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

/** The part of a text that is not a number, for the error: without underscores, sign and, mostly, the prefix. */
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

/** `1.5`, `1e3`, `.inf`, `.nan`, `1:30.5` (sexagesimal), underscores anywhere. */
const FLOAT: ValueTag = {
  kind: "value",
  tag: TAG.float,
  construct(node, construction) {
    const text = textOf(node, construction);
    const value = parseYamlFloat(text);
    if (typeof value === "number") return buildScalar(node, value, construction);
    throw invalid(node, construction, `could not convert string to float: ${pyRepr(value)}`);
  },
};

/** The number, or the part of the text that is not one: lower-cased, without underscores and sign. */
function parseYamlFloat(text: string): number | string {
  const plain = text.replaceAll("_", "").toLowerCase();
  const sign = plain.startsWith("-") ? -1 : 1;
  const unsigned = /^[-+]/.test(plain) ? plain.slice(1) : plain;
  if (unsigned === ".inf") return sign * Number.POSITIVE_INFINITY;
  if (unsigned === ".nan") return Number.NaN;
  const value = unsigned.includes(":")
    ? parseSexagesimalFloat(unsigned)
    : parseDecimalFloat(unsigned);
  return typeof value === "number" ? sign * value : value;
}

const parseDecimalFloat = (text: string): number | string => parsePythonFloat(text) ?? text;

/** Summed from the last digit, since the order affects rounding. */
function parseSexagesimalFloat(text: string): number | string {
  let value = 0;
  let base = 1;
  for (const part of text.split(":").reverse()) {
    const digit = parseDecimalFloat(part);
    if (typeof digit === "string") return digit;
    value += digit * base;
    base *= 60;
  }
  return value;
}

/** Base64 as Python decodes it: invalid characters are ignored, padding ends the data. */
const BINARY: ValueTag = {
  kind: "value",
  tag: "tag:yaml.org,2002:binary",
  construct(node, construction) {
    const text = textOf(node, construction);
    if (/[^\0-\x7f]/.test(text))
      throw invalid(node, construction, "failed to convert base64 data into ascii");
    const digits = dataDigits(text);
    if (digits === null)
      throw invalid(node, construction, "failed to decode base64 data: Incorrect padding");
    return buildScalar(node, fromBase64(digits), construction);
  },
};

/** The base64 digits of the data, or null where they do not encode whole bytes. */
function dataDigits(text: string): string | null {
  let digits = "";
  let pads = 0;
  for (const c of text) {
    if (c === "=") {
      const position = digits.length % 4;
      if (position >= 2 && position + ++pads >= 4) return digits;
    } else if (/[A-Za-z0-9+/]/.test(c)) {
      digits += c;
      pads = 0;
    }
  }
  return digits.length % 4 === 0 ? digits : null;
}

/** `pathlib` paths, the only Python objects that OmegaConf accepts: a list of parts. */
const pathConstructor = (className: string): ValueTag => ({
  kind: "value",
  tag: `tag:yaml.org,2002:python/object/apply:pathlib.${className}`,
  construct(node, construction) {
    const parts = itemsOf(node, construction).map((item) => {
      const part = construction.build(item);
      if (part.kind === "scalar" && typeof part.value === "string") return part.value;
      throw invalid(item, construction, "the parts of a path are strings");
    });
    return buildScalar(node, { path: joinPosix(parts) }, construction);
  },
});

const PATH = pathConstructor("Path");
const POSIX_PATH = pathConstructor("PosixPath");

/**
 * `str(PurePosixPath(*parts))`: an absolute part restarts the path, `.` and repeated slashes vanish, `..` stays.
 * Exactly two leading slashes are kept, as POSIX gives them a special meaning.
 */
function joinPosix(parts: readonly string[]): string {
  const lastAbsolute = parts.findLastIndex((part) => part.startsWith("/"));
  const text = parts.slice(Math.max(lastAbsolute, 0)).join("/");
  const root = /^\/\/(?!\/)/.test(text) ? "//" : text.startsWith("/") ? "/" : "";
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  return root + names.join("/") || ".";
}

const SEQUENCE: ListTag = {
  kind: "list",
  tag: TAG.sequence,
  fill(node, items, construction) {
    for (const item of itemsOf(node, construction)) items.push(construction.build(item));
  },
};

const MAPPING: MapTag = {
  kind: "map",
  tag: TAG.mapping,
  fill: fillMapping,
};

/** Python makes a set, which OmegaConf refuses; its keys are still checked. */
const SET: ValueTag = {
  kind: "value",
  tag: "tag:yaml.org,2002:set",
  construct(node, construction) {
    buildAs(MAPPING, node, construction);
    return buildForeign(node, "set", construction);
  },
};

/** `!!omap` and `!!pairs`: a list of mappings of one pair, read as a list of `[key, value]`. */
const pairsTag = (name: string, what: string): ListTag => ({
  kind: "list",
  tag: `tag:yaml.org,2002:${name}`,
  fill(node, items, construction) {
    const context = { context: `while constructing ${what}`, contextStart: node.start };
    if (node.kind !== "sequence")
      throw invalid(node, construction, `expected a sequence, but found ${node.kind}`, context);
    for (const item of node.items) {
      const problem = pairProblem(item);
      if (problem !== null) throw invalid(item, construction, problem, context);
      if (item.kind !== "mapping") continue;
      const entry = item.pairs.flatMap(({ key, value }) => [
        construction.build(key),
        construction.build(value),
      ]);
      const pair = { kind: "list", items: entry, origin: originOf(item, construction) } as const;
      items.push(construction.dialect.tuples ? { ...pair, tuple: true } : pair);
    }
  },
});

function pairProblem(item: SyntaxNode): string | null {
  if (item.kind !== "mapping") return `expected a mapping of length 1, but found ${item.kind}`;
  const { length } = item.pairs;
  return length === 1 ? null : `expected a single mapping item, but found ${length} items`;
}

const ORDERED_MAP = pairsTag("omap", "an ordered map");
const PAIRS = pairsTag("pairs", "pairs");

const ALL: readonly TagConstructor[] = [
  STRING,
  NULL,
  BOOLEAN,
  INTEGER,
  FLOAT,
  BINARY,
  TIMESTAMP,
  SEQUENCE,
  MAPPING,
  SET,
  ORDERED_MAP,
  PAIRS,
  PATH,
  POSIX_PATH,
];

/** All accepted tags; others are refused, as by `SafeLoader`. */
export const TAG_CONSTRUCTORS: ReadonlyMap<string, TagConstructor> = new Map(
  ALL.map((entry) => [entry.tag, entry]),
);
