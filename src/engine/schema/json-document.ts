/** Trees as JSON documents: their values, and JSON pointers into them. */

import { isBytes } from "../../foundation/system/builtin-types.ts";
import { toBase64 } from "../../foundation/text/bytes.ts";
import { isInterpolationNode } from "../values/interpolation/interpolation-parser.ts";
import type { ConfigNode, Key, ScalarValue } from "../values/node.ts";
import type { Origin } from "../values/origin.ts";

/** The values of JSON: those of `JSON.parse`. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/**
 * A configuration tree as a JSON document. Integers become numbers, so that `4.0` counts as an integer: the rule of
 * JSON Schema, not of YAML. (Those beyond 2^53 are rounded, which matters to no realistic range check.) Bytes become
 * base64, paths and keys strings.
 */
export function toJson(node: ConfigNode): JsonValue {
  switch (node.kind) {
    case "scalar":
      return jsonScalar(node.value);
    case "list":
      return node.items.map(toJson);
    case "map": {
      // Without a prototype, a key `__proto__` is an ordinary key.
      const out: Record<string, JsonValue> = Object.create(null);
      for (const { key, value } of node.entries.values()) out[keyText(key)] = toJson(value);
      return out;
    }
  }
}

/** The string for a key in a JSON object, and so in the JSON pointers of errors. */
export function keyText(key: Key): string {
  return isBytes(key) ? toBase64(key) : String(key);
}

function jsonScalar(value: ScalarValue): JsonValue {
  if (typeof value === "bigint") return Number(value);
  if (isBytes(value)) return toBase64(value);
  if (typeof value === "object" && value !== null) return value.path;
  return value;
}

/** The JSON pointer (RFC 6901) with these parts. */
export const pointerTo = (tokens: readonly (string | number)[]): string =>
  tokens.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The parts of a JSON pointer: `/a~1b/0` -> `["a/b", "0"]`. */
export function pointerTokens(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * The node at a path of strings, and the dotted key that people type for it (`db.hosts[0]`). Stops at the deepest
 * existing node, which is the place to show when something below it is missing.
 */
export function nodeAt(
  root: ConfigNode,
  tokens: readonly string[],
): { readonly node: ConfigNode; readonly key: string; readonly length: number } {
  let node = root;
  let key = "";
  let length = 0;
  for (const token of tokens) {
    const next = childByText(node, token);
    if (next === undefined) break;
    key = node.kind === "list" ? `${key}[${token}]` : joinKey(key, token);
    node = next;
    length++;
  }
  return { node, key, length };
}

/** Where a value was written: of what a resolver gave, the interpolation; of what a layer gave, the layer, whose name it has. */
export const originOf = ({ origin, replaced }: ConfigNode): Origin =>
  origin.kind === "code" && replaced !== undefined && isInterpolationNode(replaced)
    ? replaced.origin
    : origin;

export const joinKey = (parent: string, name: string): string =>
  parent === "" ? name : `${parent}.${name}`;

function childByText(node: ConfigNode, token: string): ConfigNode | undefined {
  if (node.kind === "list") return node.items[Number(token)];
  if (node.kind === "scalar") return undefined;
  const direct = node.entries.get(token);
  if (direct !== undefined) return direct.value;
  for (const entry of node.entries.values()) if (keyText(entry.key) === token) return entry.value;
  return undefined;
}
