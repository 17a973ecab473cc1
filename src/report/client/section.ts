import { h } from "./dom.ts";

/** A part of the page under a heading that names it. */
export function section(title: string, ...children: readonly Node[]): HTMLElement {
  // A blank would make two ids of it, and the section would have no name.
  const id = `${title.toLowerCase().replaceAll(/\W+/g, "-")}-heading`;
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}
