import { refuseDepth } from "./depth.ts";
import type { ConfigNode, EnumType, Key, ScalarNode, ScalarValue } from "./node.ts";
import { isNode, isPathValue } from "./node.ts";
import { floatRepr } from "./python-number.ts";
import { enumOf } from "./types/type-of.ts";

/**
 * Python's `str()` of a value, as it appears where an interpolation stands inside a longer text:
 * `True`, `None`, `1e-07`, `[1, 'two', {'three': 3}]`.
 */
export function pyStr(value: ConfigNode | ScalarValue): string {
  if (!isNode(value))
    return isText(value) ? value : isPathValue(value) ? value.path : pyRepr(value);
  if (value.kind === "scalar") {
    const own = enumOf(value);
    return own === undefined ? pyStr(value.value) : memberText(own, value);
  }
  return pyRepr(value);
}

/**
 * Python's `repr()` of a value; inside containers every value is shown by its `repr`.
 * @throws ConfigError `yaml.depth_limit`
 */
export const pyRepr = (value: ConfigNode | ScalarValue): string => repr(value, 0);

function repr(value: ConfigNode | ScalarValue, depth: number): string {
  if (!isNode(value)) return scalarRepr(value);
  refuseDepth(depth, value);
  switch (value.kind) {
    case "scalar": {
      const own = enumOf(value);
      return own === undefined ? scalarRepr(value.value) : memberRepr(own, value);
    }
    case "list":
      return `[${value.items.map((item) => repr(item, depth + 1)).join(", ")}]`;
    case "map": {
      const entries = [...value.entries.values()];
      return `{${entries.map((entry) => `${scalarRepr(entry.key)}: ${repr(entry.value, depth + 1)}`).join(", ")}}`;
    }
  }
}

/** The name Python gives to the type of a value: `int`, `str`, `NoneType`, `DictConfig`, … */
export function pyTypeName(value: ConfigNode | ScalarValue): string {
  if (isNode(value)) {
    if (value.kind === "scalar") return enumOf(value)?.name ?? pyTypeName(value.value);
    return value.kind === "map" ? "DictConfig" : "ListConfig";
  }
  if (value === null) return "NoneType";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "float";
    case "string":
      return "str";
    default:
      return value instanceof Uint8Array ? "bytes" : "PosixPath";
  }
}

/** `str()` of a mapping key, as it stands in full keys. */
export const keyText = (key: Key): string => pyStr(key);

function scalarRepr(value: ScalarValue): string {
  if (value === null) return "None";
  switch (typeof value) {
    case "boolean":
      return value ? "True" : "False";
    case "bigint":
      return String(value);
    case "number":
      return floatRepr(value);
    case "string":
      return stringRepr(value);
    default:
      return value instanceof Uint8Array
        ? bytesRepr(value)
        : `PosixPath(${stringRepr(value.path)})`;
  }
}

/** Python prefers single quotes, unless only those would need an escape. */
const quoteFor = (text: string): string => (text.includes("'") && !text.includes('"') ? '"' : "'");

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\\", "\\\\"],
]);

/** What `str.isprintable` refuses: the categories "other" and "separator", except the space. */
const UNPRINTABLE = /^[\p{C}\p{Z}]$/u;

function stringRepr(text: string): string {
  const quote = quoteFor(text);
  let out = "";
  for (const char of text) {
    const short = SHORT_ESCAPES.get(char);
    if (short !== undefined) out += short;
    else if (char === quote) out += `\\${char}`;
    else out += char !== " " && UNPRINTABLE.test(char) ? codeEscape(char) : char;
  }
  return `${quote}${out}${quote}`;
}

function codeEscape(char: string): string {
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

function bytesRepr(bytes: Uint8Array): string {
  const quote = quoteFor(Buffer.from(bytes).toString("latin1"));
  let out = "";
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    const short = SHORT_ESCAPES.get(char);
    if (short !== undefined) out += short;
    else if (char === quote) out += `\\${char}`;
    else out += byte < 0x20 || byte > 0x7e ? codeEscape(char) : char;
  }
  return `b${quote}${out}${quote}`;
}

/** Enum members are stored by name; Python shows them as `Color.RED`. */
const memberText = (own: EnumType, { value }: ScalarNode): string => `${own.name}.${pyStr(value)}`;

/** `<Color.RED: 1>`: the name stands for a value that is not known. */
function memberRepr(own: EnumType, node: ScalarNode): string {
  const value = own.values?.[own.members.indexOf(pyStr(node.value))] ?? node.value;
  return `<${memberText(own, node)}: ${scalarRepr(value)}>`;
}

const isText = (value: unknown): value is string => typeof value === "string";
