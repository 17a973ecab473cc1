import { printable } from "../../printable.ts";

/** Text that is text in an element and in a quoted attribute; what cannot be printed is spelled out. */
export const escapeHtml = (text: string): string =>
  printable(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * JSON inside a `<script>` element: `</script>` and `<!--` cannot occur, since `<` is written as an
 * escape that JSON knows; the line separators that old JavaScript stumbles over likewise.
 */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
