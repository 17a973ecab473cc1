/** The address of a file beside a report, by its relative path, for Markdown and HTML alike. */
export const relativeLink = (path: string): string => path.split("/").map(encode).join("/");

/** Half a character has no bytes of its own, and what Markdown may take for its own is spelled out. */
const encode = (segment: string): string =>
  encodeURIComponent(segment.replaceAll(/\p{Cs}/gu, "\ufffd")).replaceAll(
    /[()'!*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
