import { h } from "./dom.ts";

/** Deeper indentation would leave no room for the name; paths show the rest. */
const MOST_INDENT = 20;

/**
 * A name in a table: short names stay on one line; longer ones break where the style allows,
 * never within a word.
 */
export function nameElement<K extends "code" | "button">(
  tag: K,
  text: string,
  { level = 0, path = null }: { readonly level?: number; readonly path?: string | null } = {},
): HTMLElementTagNameMap[K] {
  const isButton = tag === "button";
  const name = h(
    tag,
    { class: isButton ? "name label" : "label", type: isButton ? "button" : null, title: path },
    text,
  );
  name.style.setProperty("--length", `${[...text].length + 0.5}ch`);
  name.style.paddingInlineStart = `${Math.min(level, MOST_INDENT) * 1.1}em`;
  return name;
}
