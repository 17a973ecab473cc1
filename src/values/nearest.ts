import { closest, distance } from "fastest-levenshtein";

/**
 * The candidate that a name was probably meant to be, or undefined when none is near: at most two
 * edits in every five characters, but two in a word of four, so that swapped letters are seen.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const candidate = closest(name, candidates);
  const length = Math.max(name.length, candidate.length);
  const edits = Math.max(length > 3 ? 2 : 1, Math.floor((2 * length) / 5));
  return distance(name, candidate) <= edits ? candidate : undefined;
}
