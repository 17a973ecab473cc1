/** Candidates of completion. */

/** One possible continuation of the word under the cursor. */
export interface Candidate {
  /** The whole word, unquoted. */
  readonly text: string;
  /** One line, for shells that show descriptions. */
  readonly description?: string;
  /** Whether the word goes on, so that the shell appends no blank. */
  readonly isOpen: boolean;
}

/** A word that ends in one of these characters is incomplete: a value, key, path or package follows. */
export const candidate = (text: string, description?: string): Candidate => ({
  text,
  isOpen: /[=./@,]$/.test(text),
  ...(description !== undefined && description !== "" && { description: oneLine(description) }),
});

export const matching = (word: string, candidates: readonly Candidate[]): readonly Candidate[] =>
  candidates.filter(({ text }) => text.startsWith(word));

const MAX_LENGTH = 80;

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line;
}
