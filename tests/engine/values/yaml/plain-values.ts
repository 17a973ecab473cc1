import type { ConfigNode, Key, ScalarValue } from "../../../../src/engine/values/node.ts";

/** A config tree without origins, for comparing: maps as lists of pairs, so that order counts. */
export type PlainValue = ScalarValue | readonly PlainValue[] | PlainMap;
export interface PlainMap {
  readonly map: readonly (readonly [Key, PlainValue])[];
}

export function plain(node: ConfigNode): PlainValue {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(plain);
  return { map: [...node.entries.values()].map(({ key, value }) => [key, plain(value)] as const) };
}

export const pairs = (...entries: readonly (readonly [Key, PlainValue])[]): PlainMap => ({
  map: entries,
});
