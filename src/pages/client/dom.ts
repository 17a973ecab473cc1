/**
 * Creates elements from data. Text always becomes a text node: names are never parsed as HTML, and invisible characters
 * are written as escapes.
 */
import { printable } from "../../foundation/text/printable.ts";

export type Child = Node | string | null;

export interface Attributes {
  readonly [name: string]: string | number | boolean | null;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(element, attributes, children);
  return element;
}

function apply(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  element.append(
    ...children.flatMap((child) =>
      child === null ? [] : [typeof child === "string" ? printable(child) : child],
    ),
  );
}

export function on<E extends Element, K extends keyof HTMLElementEventMap>(
  element: E,
  type: K,
  listener: (event: HTMLElementEventMap[K]) => void,
): E {
  element.addEventListener(type, listener as EventListener);
  return element;
}

/** Deeper levels are indented equally, since otherwise no room would be left for the name; paths show the depth. */
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

/** A part of the page, labelled by its heading. */
export function section(title: string, ...children: readonly Node[]): HTMLElement {
  // A space would separate two ids, leaving the section without a label.
  const id = `${title.toLowerCase().replaceAll(/\W+/g, "-")}-heading`;
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
}
