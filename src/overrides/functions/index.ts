import { bool, float, int, str } from "./casts.ts";
import type { OverrideFunction } from "./function.ts";
import { shuffle, sort } from "./ordering.ts";
import { choice, glob, interval, logrange, range, tag, zip } from "./sweeps.ts";

/** The functions of Hydra 1.3.5 and our own (`logrange`, `zip`), by name. */
export const FUNCTIONS: ReadonlyMap<string, OverrideFunction> = new Map(
  Object.entries({
    bool,
    choice,
    float,
    glob,
    int,
    interval,
    logrange,
    range,
    shuffle,
    sort,
    str,
    tag,
    zip,
  }),
);
