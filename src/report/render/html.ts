/** Blocks as HTML: what a page shows without its script. */
import { printable } from "../../text/printable.ts";
import {
  type Block,
  type Cell,
  type Column,
  cellText,
  type Span,
  type Table,
  type Text,
} from "../view/blocks.ts";
import { relativeLink } from "./markdown.ts";

export interface HtmlOptions {
  /** Characters of a text; longer ones are cut. */
  readonly textLimit?: number;
  /** Of lists. */
  readonly className?: string;
}

export const renderHtml = (blocks: Iterable<Block>, options: HtmlOptions = {}): string =>
  Array.from(blocks, (block) => blockHtml(block, options)).join("");

function blockHtml(block: Block, options: HtmlOptions): string {
  switch (block.type) {
    case "heading":
      return `<h${block.level}>${htmlText(block.text, options)}</h${block.level}>`;
    case "paragraph":
      return `<p>${htmlText(block.text, options)}</p>`;
    case "list":
      return listHtml(block.items, options);
    case "table":
      return tableHtml(block, options);
  }
}

const listHtml = (items: Iterable<Text>, { className, ...options }: HtmlOptions): string =>
  `<ul${className === undefined ? "" : ` class="${className}"`}>${Array.from(items, (item) => `<li>${htmlText(item, options)}</li>`).join("")}</ul>`;

/** The first cell of a row is its heading. A table of names and values has no headings of columns. */
function tableHtml({ columns, rows }: Table, options: HtmlOptions): string {
  const hasHead = columns.every(({ title }) => title !== "");
  const head = columns.map(({ title }) => `<th scope="col">${escapeHtml(title)}</th>`).join("");
  const body = Array.from(rows, ({ cells }) => {
    const [first = "", ...others] = columns.map((column, at) =>
      cellHtml(cells[at] ?? null, column, options),
    );
    return `<tr><th scope="row">${first}</th>${others.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  return `<table class="facts${hasHead ? " wide" : ""}">${hasHead ? `<thead><tr>${head}</tr></thead>` : ""}<tbody>${body.join("")}</tbody></table>`;
}

const cellHtml = (cell: Cell, column: Column, options: HtmlOptions): string =>
  typeof cell === "string" || (typeof cell === "object" && cell !== null && !("kind" in cell))
    ? htmlText(cell, options)
    : escapeHtml(cellText(cell, column));

const htmlText = (text: Text, options: HtmlOptions): string =>
  (typeof text === "string" ? [text] : text).map((span) => spanHtml(span, options)).join("");

function spanHtml(span: Span, { textLimit = Number.POSITIVE_INFINITY }: HtmlOptions): string {
  const text = escapeHtml(shorten(typeof span === "string" ? span : span.text, textLimit));
  if (typeof span === "string" || span.kind === "number") return text;
  if (span.kind === "link") return `<a href="${escapeHtml(relativeLink(span.path))}">${text}</a>`;
  return `<${span.kind}>${text}</${span.kind}>`;
}

const shorten = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`;

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
