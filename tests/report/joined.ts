/** The whole text of what is written in pieces. */
export const joined = (pieces: Iterable<string>): string => [...pieces].join("");
