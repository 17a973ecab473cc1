import { printable } from "../../text/printable.ts";

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
 * escape that JSON knows. So is what cannot be seen: controls, marks of direction, line separators.
 */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUnits);

/** A character beyond 16 bits is two escapes. */
const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16).padStart(4, "0");
    return `\\u${unit}`;
  }).join("");
