/** The numbers of one thing (the whole report, a region, a kernel) in two reports. */
import { asLeftOut, type Change } from "./change.ts";

/** Numbers by their names in the report contract; only those that at least one report has. */
export type Changes = Readonly<Record<string, Change>>;

/** Whether both reports have it; `left_out`: one did not look for it, since its selection leaves it out. */
export type Presence = "both" | "added" | "removed" | "left_out";

/** @param isLookedFor whether a report that does not have it looked for it */
export function presenceOf(
  a: unknown,
  b: unknown,
  isLookedFor: (side: "a" | "b") => boolean,
): Presence {
  if (a !== null && b !== null) return "both";
  if (!isLookedFor(a === null ? "a" : "b")) return "left_out";
  return a === null ? "added" : "removed";
}

export const changesAs = (presence: Presence, changes: Changes): Changes =>
  changesIf(presence !== "left_out", present(changes));

/** As they are, or without a conclusion if they are of different work. */
export const changesIf = (isSame: boolean, changes: Changes): Changes =>
  isSame
    ? changes
    : Object.fromEntries(Object.entries(changes).map(([name, one]) => [name, asLeftOut(one)]));

/** Without numbers that neither report has. */
export const present = (changes: Changes): Changes =>
  Object.fromEntries(Object.entries(changes).filter(([, { a, b }]) => a !== null || b !== null));
