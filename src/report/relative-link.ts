/** The URL of a file beside a report, made from its relative path; safe in Markdown and in HTML. */
export const relativeLink = (path: string): string => path.split("/").map(encode).join("/");

/** Lone surrogates cannot be encoded, so they are replaced. Characters that Markdown may interpret are encoded, too. */
const encode = (segment: string): string =>
  encodeURIComponent(segment.replaceAll(/\p{Cs}/gu, "\ufffd")).replaceAll(
    /[()'!*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
