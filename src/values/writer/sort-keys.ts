import type { Key, MapEntry } from "../node.ts";

/** Python's `sorted` of the keys; keys that Python cannot compare stay in their order. */
export function sortEntries(entries: readonly MapEntry[]): readonly MapEntry[] {
  const kinds = new Set(entries.map(({ key }) => kindOf(key)));
  if (kinds.size !== 1 || entries.length < 2 || kinds.has("null")) return entries;
  return entries.toSorted((left, right) => compare(left.key, right.key));
}

const kindOf = (key: Key): "null" | "number" | "string" | "bytes" => {
  if (key === null) return "null";
  if (typeof key === "string") return "string";
  return typeof key === "object" ? "bytes" : "number";
};

function compare(left: Key, right: Key): number {
  // The order of UTF-8 bytes is that of code points, which is Python's.
  if (typeof left === "string" && typeof right === "string")
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  const [a, b] = [numberOf(left), numberOf(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}

const numberOf = (key: Key): number | bigint =>
  typeof key === "bigint" || typeof key === "number" ? key : Number(key);
