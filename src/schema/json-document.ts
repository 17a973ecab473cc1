import type { ConfigNode, Key, ScalarValue } from "../values/node.ts";

/** What JSON Schema knows: the values of `JSON.parse`. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/**
 * A configuration tree as JSON Schema sees it. Integers become numbers (those beyond 2^53 round,
 * which no range check of a sane schema can notice), so that `4.0` counts as an integer there: the
 * rule of JSON Schema, not of YAML. Bytes become base64, paths their text, other keys their text.
 */
export function toJson(node: ConfigNode): JsonValue {
  switch (node.kind) {
    case "scalar":
      return jsonScalar(node.value);
    case "list":
      return node.items.map(toJson);
    case "map": {
      // No prototype: a key `__proto__` is a key like any other.
      const out: Record<string, JsonValue> = Object.create(null);
      for (const { key, value } of node.entries.values()) out[keyText(key)] = toJson(value);
      return out;
    }
  }
}

/** The text that stands for a key in a JSON object, and so in the JSON pointers of errors. */
export function keyText(key: Key): string {
  return key instanceof Uint8Array ? Buffer.from(key).toString("base64") : String(key);
}

function jsonScalar(value: ScalarValue): JsonValue {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (typeof value === "object" && value !== null) return value.path;
  return value;
}
