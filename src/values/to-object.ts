import { refuseDepth } from "./depth.ts";
import type { ConfigNode, Key, ScalarValue } from "./node.ts";
import { keyText } from "./python-text.ts";

/** Plain data, as programs want it. Paths are their text; ints are bigints only where they must. */
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
 * Keys become strings, as they do in JavaScript; of keys that become equal so (`1` and `"1"`) the
 * last wins. A key such as `__proto__` is an ordinary property.
 * @throws ConfigError `yaml.depth_limit`
 */
export const toObject = (node: ConfigNode): PlainValue => plain(node, 0);

function plain(node: ConfigNode, depth: number): PlainValue {
  if (node.kind === "scalar") return plainScalar(node.value);
  refuseDepth(depth, node);
  if (node.kind === "list") return node.items.map((item) => plain(item, depth + 1));
  return recordOf(
    [...node.entries.values()].map(({ key, value }) => [key, plain(value, depth + 1)]),
  );
}

/** An object with these properties. An assignment to `__proto__` would make none of that name. */
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

/** `null`, `true` and `1.5` name properties as JavaScript, not as Python, writes them. */
const propertyName = (key: Key): string => (key instanceof Uint8Array ? keyText(key) : String(key));

function plainScalar(value: ScalarValue): PlainValue {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  return typeof value === "object" && value !== null && "path" in value ? value.path : value;
}
