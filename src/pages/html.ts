/** HTML: pages, each a single file without network access and with a strict content security policy, and blocks in them. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedPart, findPackage } from "../foundation/system/package-root.ts";
import { printable, printableLabel } from "../foundation/text/printable.ts";
import {
  type Bar,
  type Block,
  type Cell,
  type Column,
  cellText,
  FAMILIES_ID,
  list,
  type Span,
  type Table,
  type Text,
} from "./blocks.ts";
import { relativeLink } from "./markdown.ts";
import { formatCount } from "./numbers.ts";

export interface Page {
  /** Plain text. */
  readonly title: string;
  /** HTML, already escaped. */
  readonly body: string;
  /** The data for the script, in the element with the id `data`. */
  readonly data: unknown;
  /** The timeline for the script in Base64, in the element with the id `timeline`. */
  readonly timeline?: string;
  /** Whether the script may ask the server of the page for other data. */
  readonly isLive?: true;
  /** With this nonce the script may make style elements. */
  readonly styleNonce?: string;
}

export function renderPage(
  { title, body, data, timeline, isLive, styleNonce }: Page,
  { script, style, worker }: PageAssets,
): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}${styleNonce === undefined ? "" : ` 'nonce-${styleNonce}'`}`,
    "img-src data:",
    ...(isLive ? ["connect-src 'self'"] : []),
    // The page makes it from its own text.
    ...(worker === undefined ? [] : ["worker-src blob:"]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
<script type="application/json" id="data">${scriptJson(data)}</script>
${timeline === undefined ? "" : `<script type="text/plain" id="timeline">${timeline}</script>\n`}${worker === undefined ? "" : `<script type="text/plain" id="worker">${worker}</script>\n`}<script>${script}</script>
</body>
</html>
`;
}

/** The policy allows only these exact scripts and styles. */
const hashSource = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/**
 * Notes about the page itself, e.g. gates; empty without notes.
 * @param id id of the section
 */
export const noticeSection = (
  id: string,
  title: string,
  items: readonly Text[],
  { isNeutral = false, ...options }: HtmlOptions & { readonly isNeutral?: boolean } = {},
): string =>
  items.length === 0
    ? ""
    : `<section class="notice${isNeutral ? " neutral" : ""}" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${escapeHtml(title)}</h2>${renderHtml([list(items)], options)}</section>`;

/** Maximum length of a note, in characters. */
const MAX_NOTE = 600;

/**
 * Notes on what the numbers mean, below the result; empty without notes. Each takes a line until a reader opens it.
 * @param limit maximum length of a note, in characters
 */
export const notesSection = (notes: readonly string[], limit = MAX_NOTE): string =>
  notes.length === 0
    ? ""
    : `<section aria-labelledby="notes-heading"><h2 id="notes-heading">Notes</h2><ul class="notice notes">${notes.map((note) => `<li>${noteHtml(printableLabel(note, limit))}</li>`).join("")}</ul></section>`;

/** Such a note fits in a line of every page. */
const SHORT_NOTE = 40;

const noteHtml = (note: string): string =>
  note.length <= SHORT_NOTE
    ? escapeHtml(note)
    : `<details class="note"><summary>${escapeHtml(note)}</summary></details>`;

/**
 * JSON inside a `<script>` element: it cannot contain `</script>` or `<!--`, since `<` is escaped. Invisible characters
 * are escaped, too: controls, direction marks, line separators.
 */
const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUnits);

/** A character beyond 16 bits becomes two escapes. */
const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, "0");
    return `\\u${unit}`;
  }).join("");

/** A page's script, and the style that all pages share. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
  /** The script of its worker, in the element with the id `worker`. */
  readonly worker?: string;
}

/** The scripts that `scripts/bundle-client.mjs` makes, by page. */
export type PageName = "report" | "compare" | "sweep-report" | "sweep" | "playground";

/**
 * The script of a page and the style of all pages, as they were built; undefined in a program whose bundler took the code out of
 * the package.
 *
 * @throws Error if the package was not built
 */
export function findPageAssets(page: PageName): PageAssets | undefined {
  const root = findPackage()?.root;
  if (root === undefined) return undefined;
  // The playground is a package of its own, with a style that has more.
  const folder = page === "playground" ? join("playground", "client") : "client";
  const directory = join(root, "dist", folder);
  const read = (name: string): string => {
    const embedded = embeddedPart(name);
    return typeof embedded === "string" ? embedded : readFileSync(join(directory, name), "utf8");
  };
  try {
    return {
      script: read(`${page}.js`),
      style: read("page.css"),
      ...(page === "playground" && { worker: read("worker.js") }),
    };
  } catch (error) {
    throw new Error(
      `the script of the HTML page is missing from ${directory}: run npm run build:ts`,
      { cause: error },
    );
  }
}

/**
 * As `findPageAssets`, for code that never leaves its package.
 *
 * @throws Error if the package was not built, or is not around
 */
export function readPageAssets(page: PageName): PageAssets {
  const found = findPageAssets(page);
  if (found === undefined) throw new Error("the package of the HTML page is not around its code");
  return found;
}

// Blocks: the part of a page that needs no script.

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
  let start = 0;
  const rects = parts.map(({ kind, share, text }) => {
    const x = start * WIDTH;
    start += share;
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
  const sideOf = (place: number) =>
    place > 0 && columns[place]?.format !== undefined ? ' class="right"' : "";
  const head = columns
    .map(({ title }, place) => `<th scope="col"${sideOf(place)}>${escapeHtml(title)}</th>`)
    .join("");
  const isStacked = hasHead && options.isStacked === true;
  const titleOf = (index: number) =>
    isStacked ? ` data-title="${escapeHtml(columns[index]?.title ?? "")}"` : "";
  const body = Array.from(rows, ({ cells }) => {
    const [first = "", ...others] = columns.map((column, index) =>
      cellHtml(cells[index] ?? null, column, options),
    );
    return `<tr><th scope="row">${first}</th>${others.map((cell, index) => `<td${sideOf(index + 1)}${titleOf(index + 1)}>${cell}</td>`).join("")}</tr>`;
  });
  return `<table class="facts${hasHead ? " wide" : ""}${isStacked ? " stacked" : ""}">${hasHead ? `<thead><tr>${head}</tr></thead>` : ""}<tbody>${body.join("")}</tbody></table>`;
}

const cellHtml = (cell: Cell, column: Column, options: HtmlOptions): string =>
  typeof cell === "string" || (typeof cell === "object" && cell !== null && !("kind" in cell))
    ? htmlText(cell, options)
    : typeof cell === "number" && column.format === "count"
      ? formatCount(cell)
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
