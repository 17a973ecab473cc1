import { getOrCreate } from "../../system/get-or-create.ts";
import type { TextIndex } from "./page-data.ts";

/** Each text once, since names repeat in every list. */
export interface StringTable {
  add(text: string): TextIndex;
  readonly strings: readonly string[];
}

export function createStringTable(): StringTable {
  const strings: string[] = [];
  const places = new Map<string, TextIndex>();
  return {
    strings,
    add: (text) => getOrCreate(places, text, () => strings.push(text) - 1),
  };
}
