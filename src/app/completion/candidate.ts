/** One way in which the word under the cursor may go on. */
export interface Candidate {
  /** The whole word, without quotes. */
  readonly text: string;
  /** One line, for shells that show it. */
  readonly description?: string;
  /** More of the same word follows, so that no blank is put behind it. */
  readonly isOpen: boolean;
}

/** A word that ends so is a beginning: of a value, a key, a path, a package. */
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
