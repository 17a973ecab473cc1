/** The table of all override functions. */
import type { Dialect } from "../../values/dialect.ts";
import { bool, float, int, jsonStr, str } from "./casts.ts";
import type { OverrideFunction } from "./function.ts";
import { shuffle, sort } from "./ordering.ts";
import { choice, extendList, glob, interval, logrange, range, tag, zip } from "./sweeps.ts";

/** The functions of Hydra 1.3.5 and our own, by name. */
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

/** Functions that only some versions of Hydra have (`addedFunctions` of the dialect). */
const ADDED: readonly OverrideFunction[] = [jsonStr, extendList];

/** The functions of a dialect, by name. */
export function functionsOf(dialect: Dialect): ReadonlyMap<string, OverrideFunction> {
  const { addedFunctions, extendsOverrides } = dialect;
  if (addedFunctions.length === 0 && extendsOverrides) return FUNCTIONS;
  const added = ADDED.filter(({ name }) => addedFunctions.includes(name));
  return new Map(
    [...FUNCTIONS.values(), ...added].flatMap((each) =>
      each.isOurs === true && !extendsOverrides ? [] : [[each.name, each] as const],
    ),
  );
}
