/** Blocks as HTML: the part of a page that needs no script. */
import { printable } from "../foundation/text/printable.ts";
import {
  type Bar,
  type Block,
  type Cell,
  type Column,
  cellText,
  FAMILIES_ID,
  type Span,
  type Table,
  type Text,
} from "./blocks.ts";
import { relativeLink } from "./markdown.ts";

export interface HtmlOptions {
  /** Maximum length of a text, in characters; longer ones are cut. */
  readonly textLimit?: number;
  /** The class of lists. */
  readonly className?: string;
  /** Whether tables with headings become a line for each cell on narrow screens. */
  readonly isStacked?: boolean;
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
    case "bar":
      return barHtml(block);
    case "table":
      return tableHtml(block, options);
  }
}

const WIDTH = 1000;
const HEIGHT = 28;

/**
 * Drawn only with attributes, since the policy of our pages forbids styles of elements. The list below has the same
 * content.
 */
function barHtml({ title, parts, isDetail }: Bar): string {
  let at = 0;
  const rects = parts.map(({ kind, share, text }) => {
    const x = at * WIDTH;
    at += share;
    return `<rect class="part part-${kind}" x="${x.toFixed(2)}" y="0" width="${(share * WIDTH).toFixed(2)}" height="${HEIGHT}"><title>${escapeHtml(text)}</title></rect>`;
  });
  const legend = parts.map(
    ({ kind, text }) =>
      `<li><svg class="swatch" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><rect class="part part-${kind}" width="12" height="12"/></svg> ${escapeHtml(text)}</li>`,
  );
  return `<figure class="run-bar${isDetail ? " detail" : ""}"><figcaption>${escapeHtml(title)}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${rects.join("")}</svg><ul>${legend.join("")}</ul></figure>`;
}

const listHtml = (items: Iterable<Text>, { className, ...options }: HtmlOptions): string =>
  `<ul${className === undefined ? "" : ` class="${className}"`}>${Array.from(items, (item) => `<li>${htmlText(item, options)}</li>`).join("")}</ul>`;

/** The first cell of a row is its heading. A table of names and values has no column headings. */
function tableHtml({ columns, rows }: Table, options: HtmlOptions): string {
  const hasHead = columns.every(({ title }) => title !== "");
  const head = columns.map(({ title }) => `<th scope="col">${escapeHtml(title)}</th>`).join("");
  const isStacked = hasHead && options.isStacked === true;
  const titleOf = (at: number) =>
    isStacked ? ` data-title="${escapeHtml(columns[at]?.title ?? "")}"` : "";
  const body = Array.from(rows, ({ cells }) => {
    const [first = "", ...others] = columns.map((column, at) =>
      cellHtml(cells[at] ?? null, column, options),
    );
    return `<tr><th scope="row">${first}</th>${others.map((cell, at) => `<td${titleOf(at + 1)}>${cell}</td>`).join("")}</tr>`;
  });
  return `<table class="facts${hasHead ? " wide" : ""}${isStacked ? " stacked" : ""}">${hasHead ? `<thead><tr>${head}</tr></thead>` : ""}<tbody>${body.join("")}</tbody></table>`;
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
  if (span.kind === "region" && span.isFamily === true)
    return `<a href="#${FAMILIES_ID}">${text}</a>`;
  if (span.kind === "region")
    return `<a class="to-region" href="#region=${escapeHtml(encodeFragment(span.text))}">${text}</a>`;
  if (span.kind === "link") return `<a href="${escapeHtml(relativeLink(span.path))}">${text}</a>`;
  return `<${span.kind}>${text}</${span.kind}>`;
}

/** Lone surrogates cannot be encoded. */
const encodeFragment = (text: string): string =>
  encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\ufffd"));

const shorten = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`;

/** Escapes a text for an element or a quoted attribute; unprintable characters are written as escapes. */
export const escapeHtml = (text: string): string =>
  printable(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
