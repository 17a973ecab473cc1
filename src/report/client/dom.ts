/**
 * Elements made from data. Text only ever becomes a text node: names are never parsed as HTML, and
 * invisible characters are spelled out.
 */
import { printable } from "../../text/printable.ts";

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
