import { closest, distance } from "fastest-levenshtein";

/** A name of fewer characters is no abbreviation of another: too many begin with it. */
const SHORTEST_PART = 3;

/**
 * The candidate that a name was probably meant to be, or undefined when none is near: at most two
 * edits in every five characters, but two in a word of four, so that swapped letters are seen; else
 * the only one that begins or ends with the name.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const candidate = closest(name, candidates);
  const length = Math.max(name.length, candidate.length);
  const edits = Math.max(length > 3 ? 2 : 1, Math.floor((2 * length) / 5));
  if (distance(name, candidate) <= edits) return candidate;
  const longer = candidates.filter((one) => one.startsWith(name) || one.endsWith(name));
  return name.length >= SHORTEST_PART && longer.length === 1 ? longer[0] : undefined;
}

/**
 * What an error about a name says of those that there are: all of them, and the one that was
 * probably meant.
 */
export function alternativesTo(
  name: string,
  available: readonly string[],
): { readonly available: readonly string[]; readonly nearest?: string } {
  const near = nearest(name, available);
  return { available, ...(near !== undefined && { nearest: near }) };
}
