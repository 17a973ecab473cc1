import type { JobOverrides } from "../sweeper.ts";

/** One job of a search. */
export interface Trial {
  readonly overrides: JobOverrides;
  /** Those of the overrides that the search chose among. */
  readonly params: JobOverrides;
  /** Results of a higher level are worth more: they come from a larger budget. */
  readonly level: number;
}

/** What a trial achieved; null where it failed or never ran. */
export type Score = number | null;

/**
 * Yields trials that may run side by side and gets their scores, in their order. It has no other
 * input, so that the same scores lead to the same trials.
 */
export type Search = Generator<readonly Trial[], void, readonly Score[]>;

export type Direction = "minimize" | "maximize";

/** Sorts the best first; what has no score comes last, and equals keep their order. */
export const byScore =
  (direction: Direction) =>
  (a: { readonly score: Score }, b: { readonly score: Score }): number => {
    if (a.score === null || b.score === null)
      return Number(a.score === null) - Number(b.score === null);
    return direction === "minimize" ? a.score - b.score : b.score - a.score;
  };
