/** JavaScript's plain values as trees, and trees as plain values. */
import { isBytes, isMap, isPlainObject } from "../../foundation/system/builtin-types.ts";
import { ConfigError } from "./errors.ts";
import {
  type ConfigNode,
  checkDepth,
  isNode,
  type Key,
  list,
  MAX_TREE_DEPTH,
  map,
  type ScalarValue,
  scalar,
} from "./node.ts";
import type { Origin } from "./origin.ts";
import { keyText } from "./python-text.ts";

/**
 * A tree of plain data: `null` and `undefined`, booleans, numbers, bigints, strings, bytes, arrays,
 * maps and plain objects. Safe integers become ints, since JavaScript has no other way to write
 * one; a float with an integral value has to be given as a node. Nodes are kept as they are.
 * @throws ConfigError `value.wrong_type` for anything else, and for data that contains itself
 */
export const fromObject = (value: unknown, origin: Origin): ConfigNode =>
  convert(value, origin, [], new Set());

function convert(
  value: unknown,
  origin: Origin,
  path: readonly string[],
  open: Set<object>,
): ConfigNode {
  switch (typeof value) {
    case "undefined":
      return scalar(null, origin);
    case "boolean":
    case "bigint":
    case "string":
      return scalar(value, origin);
    case "number":
      return scalar(
        Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value,
        origin,
      );
    case "object":
      return value === null ? scalar(null, origin) : convertObject(value, origin, path, open);
    default:
      throw unsupported(typeof value, origin, path);
  }
}

function convertObject(
  value: object,
  origin: Origin,
  path: readonly string[],
  open: Set<object>,
): ConfigNode {
  if (isNode(value)) return value;
  if (isBytes(value)) return scalar(value, origin);
  if (open.has(value)) throw unsupported("cyclic data", origin, path);
  if (open.size >= MAX_TREE_DEPTH) throw unsupported("too deeply nested data", origin, path);
  open.add(value);
  const node = convertContainer(value, origin, path, open);
  open.delete(value);
  return node;
}

function convertContainer(
  value: object,
  origin: Origin,
  path: readonly string[],
  open: Set<object>,
): ConfigNode {
  if (Array.isArray(value))
    return list(
      value.map((item, index) => convert(item, origin, [...path, String(index)], open)),
      origin,
    );
  if (!isMap(value) && !isPlainObject(value))
    throw unsupported(value.constructor?.name ?? "object", origin, path);
  const entries = isMap(value) ? [...value] : Object.entries(value);
  return map(
    entries.map(([key, item]: readonly [unknown, unknown]) => {
      if (!isKey(key)) throw unsupported(`a key of type ${typeof key}`, origin, path);
      return [
        typeof key === "number" && Number.isInteger(key) ? BigInt(key) : key,
        convert(item, origin, [...path, String(key)], open),
      ] as const;
    }),
    origin,
  );
}

/** Whether a value can be a key of a tree. */
export function isKey(key: unknown): key is Key {
  return (
    key === null ||
    typeof key === "string" ||
    typeof key === "number" ||
    typeof key === "bigint" ||
    typeof key === "boolean" ||
    isBytes(key)
  );
}

const unsupported = (what: string, origin: Origin, path: readonly string[]): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `Value '${what}' is not a supported primitive type`,
    key: path.join("."),
    origin,
  });

/** Plain data, as programs use it. Paths become strings; ints are bigints only where necessary. */
export type PlainValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

/**
 * The tree as plain objects and arrays. Interpolations stay as they are: resolve the tree first.
 * Keys become strings, as they do in JavaScript; of keys that become equal by this (`1` and `"1"`) the
 * last wins. A key such as `__proto__` is an ordinary property.
 * @throws ConfigError `yaml.depth_limit`
 */
export const toObject = (node: ConfigNode): PlainValue => plain(node, 0);

function plain(node: ConfigNode, depth: number): PlainValue {
  if (node.kind === "scalar") return plainScalar(node.value);
  checkDepth(depth, node);
  if (node.kind === "list") return node.items.map((item) => plain(item, depth + 1));
  return recordOf(
    [...node.entries.values()].map(({ key, value }) => [key, plain(value, depth + 1)]),
  );
}

/** An object with these properties. Plain assignment would not create a property named `__proto__`. */
export function recordOf<T>(entries: readonly (readonly [Key, T])[]): Record<string, T> {
  const record: Record<string, T> = {};
  for (const [key, value] of entries)
    Object.defineProperty(record, propertyName(key), {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return record;
}

/** Keys such as `null`, `true` and `1.5` become property names as JavaScript, not Python, writes them. */
const propertyName = (key: Key): string => (isBytes(key) ? keyText(key) : String(key));

function plainScalar(value: ScalarValue): PlainValue {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  return typeof value === "object" && value !== null && "path" in value ? value.path : value;
}
