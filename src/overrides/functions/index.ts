import { bool } from "./bool.ts";
import { choice } from "./choice.ts";
import { float } from "./float.ts";
import type { OverrideFunction } from "./function.ts";
import { glob } from "./glob.ts";
import { int } from "./int.ts";
import { interval } from "./interval.ts";
import { logrange } from "./logrange.ts";
import { range } from "./range.ts";
import { shuffle } from "./shuffle.ts";
import { sort } from "./sort.ts";
import { str } from "./str.ts";
import { tag } from "./tag.ts";
import { zip } from "./zip.ts";

/** The functions of Hydra 1.3.5 and our own (`logrange`, `zip`), by name. */
export const FUNCTIONS: ReadonlyMap<string, OverrideFunction> = new Map(
  [bool, choice, float, glob, int, interval, logrange, range, shuffle, sort, str, tag, zip].map(
    (definition) => [definition.name, definition],
  ),
);
