import { closest, distance } from "fastest-levenshtein";

/**
 * The candidate that a name was probably meant to be, or undefined when none is near: at most one
 * edit in three characters of the longer of the two, and never a wholly different short name.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const candidate = closest(name, candidates);
  const length = Math.max(name.length, candidate.length);
  return distance(name, candidate) <= Math.floor(length / 3) ? candidate : undefined;
}
