import { h } from "./dom.ts";

/** A part of the page, named by its heading. */
export function section(title: string, ...children: readonly Node[]): HTMLElement {
  // A space would make two ids, and the section would have no name.
  const id = `${title.toLowerCase().replaceAll(/\W+/g, "-")}-heading`;
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}
