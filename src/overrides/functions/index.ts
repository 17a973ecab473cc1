import { bool } from "./bool.ts";
import { choice } from "./choice.ts";
import { float } from "./float.ts";
import type { OverrideFunction } from "./function.ts";
import { glob } from "./glob.ts";
import { int } from "./int.ts";
import { interval } from "./interval.ts";
import { range } from "./range.ts";
import { shuffle } from "./shuffle.ts";
import { sort } from "./sort.ts";
import { str } from "./str.ts";
import { tag } from "./tag.ts";

/** The functions of Hydra 1.3.5, by name. */
export const FUNCTIONS: ReadonlyMap<string, OverrideFunction> = new Map(
  [bool, choice, float, glob, int, interval, range, shuffle, sort, str, tag].map((definition) => [
    definition.name,
    definition,
  ]),
);
