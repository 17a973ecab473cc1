import { ConfigError } from "./errors.ts";
import type { ConfigNode, Key } from "./node.ts";
import { isNode, list, MAX_TREE_DEPTH, map, scalar } from "./node.ts";
import type { Origin } from "./origin.ts";

/**
 * A tree of plain data: `null` and `undefined`, booleans, numbers, bigints, strings, bytes, arrays,
 * maps and plain objects. Safe integers become ints, since JavaScript has no other way to write
 * one; a float with an integral value has to be given as a node. Nodes stand for themselves.
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
  if (value instanceof Uint8Array) return scalar(value, origin);
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
  if (!(value instanceof Map) && !isPlainObject(value))
    throw unsupported(value.constructor?.name ?? "object", origin, path);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
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

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Whether a value can be a key of a tree. */
export function isKey(key: unknown): key is Key {
  return (
    key === null ||
    typeof key === "string" ||
    typeof key === "number" ||
    typeof key === "bigint" ||
    typeof key === "boolean" ||
    key instanceof Uint8Array
  );
}

const unsupported = (what: string, origin: Origin, path: readonly string[]): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `Value '${what}' is not a supported primitive type`,
    key: path.join("."),
    origin,
  });
