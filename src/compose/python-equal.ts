import type { ConfigNode, ScalarValue } from "../values/node.ts";
import { keyId } from "../values/node.ts";

/**
 * Python's `==` of what an override gives and a config value: `1 == 1.0 == True`, and the order of keys does
 * not matter. An override gives no bytes and no paths.
 */
export function pythonEqual(left: ConfigNode, right: ConfigNode): boolean {
  if (left.kind === "scalar" && right.kind === "scalar")
    return scalarEqual(left.value, right.value);
  if (left.kind === "list" && right.kind === "list")
    return (
      left.items.length === right.items.length &&
      left.items.every((item, index) => {
        const other = right.items[index];
        return other !== undefined && pythonEqual(item, other);
      })
    );
  if (left.kind === "map" && right.kind === "map")
    return (
      left.entries.size === right.entries.size &&
      [...left.entries].every(([id, { value }]) => {
        const other = right.entries.get(id)?.value;
        return other !== undefined && pythonEqual(value, other);
      })
    );
  return false;
}

function scalarEqual(left: ScalarValue, right: ScalarValue): boolean {
  if (isNumeric(left) && isNumeric(right)) return keyId(left) === keyId(right);
  return left === right;
}

const isNumeric = (value: ScalarValue): value is boolean | bigint | number =>
  typeof value === "boolean" || typeof value === "bigint" || typeof value === "number";
