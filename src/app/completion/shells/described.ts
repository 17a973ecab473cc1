import type { Candidate } from "../candidate.ts";

/** A line each: `-` or `+` for what goes on, the word, a tab, its description. */
export const markedLines = (candidates: readonly Candidate[]): string =>
  candidates
    .map(({ text, description, isOpen }) => `${isOpen ? "+" : "-"}${text}\t${description ?? ""}\n`)
    .join("");

/** A line each: the word, and behind a tab its description. */
export const describedLines = (candidates: readonly Candidate[]): string =>
  candidates
    .map(({ text, description }) =>
      description === undefined ? `${text}\n` : `${text}\t${description}\n`,
    )
    .join("");
