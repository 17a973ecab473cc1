/** The frame of all HTML pages: a single file, no network access, a strict content security policy. */
import { createHash } from "node:crypto";
import { printableLabel } from "../foundation/text/printable.ts";
import { list, type Text } from "./blocks.ts";
import { escapeHtml, type HtmlOptions, renderHtml } from "./html.ts";

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
  Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16).padStart(4, "0");
    return `\\u${unit}`;
  }).join("");

/** A page's script, and the style that all pages share. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
  /** The script of its worker, in the element with the id `worker`. */
  readonly worker?: string;
}
