/** The frame of every HTML page of ours: one file, no network, a strict content security policy. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { printableLabel } from "../../text/printable.ts";
import { packageInfo } from "../../values/package-info.ts";
import { list, listIfAny, type Text } from "../view/blocks.ts";
import { escapeHtml, type HtmlOptions, renderHtml } from "./html.ts";

export interface Page {
  /** Plain text. */
  readonly title: string;
  /** HTML that is safe already. */
  readonly body: string;
  /** For the script, which finds it by the id `data`. */
  readonly data: unknown;
  /** Base64 for the script, which finds it by the id `timeline`. */
  readonly timeline?: string;
}

export function renderPage(
  { title, body, data, timeline }: Page,
  { script, style }: PageAssets,
): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    "img-src data:",
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
${timeline === undefined ? "" : `<script type="text/plain" id="timeline">${timeline}</script>\n`}<script>${script}</script>
</body>
</html>
`;
}

/** The only script and style that a browser runs here are ours, letter by letter. */
const hashSource = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Notes on the page itself, e.g. gates; empty for none. @param id of the section */
export const noticeSection = (
  id: string,
  title: string,
  items: readonly Text[],
  options: HtmlOptions = {},
): string =>
  items.length === 0
    ? ""
    : `<section class="notice" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${escapeHtml(title)}</h2>${renderHtml([list(items)], options)}</section>`;

/** Characters of a note. */
const MAX_NOTE = 600;

/** Notes without a heading; empty for none. */
export const noticeList = (notes: readonly string[]): string =>
  renderHtml(listIfAny(notes.map((note) => printableLabel(note, MAX_NOTE))), {
    className: "notice",
  });

/**
 * JSON inside a `<script>` element: `</script>` and `<!--` cannot occur, since `<` is written as an
 * escape that JSON knows. So is what cannot be seen: controls, marks of direction, line separators.
 */
const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[<>&\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeUnits);

/** A character beyond 16 bits is two escapes. */
const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => {
    const unit = character.charCodeAt(at).toString(16).padStart(4, "0");
    return `\\u${unit}`;
  }).join("");

export interface PageAssets {
  readonly script: string;
  readonly style: string;
}

/**
 * A page's script and the style of all pages, as the build made them of `src/report/client`.
 *
 * @throws Error where the package was not built
 */
export function readPageAssets(page: "report" | "compare" | "sweep"): PageAssets {
  const directory = join(packageInfo().root, "dist", "report", "client");
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  try {
    return { script: read(`${page}.js`), style: read("report.css") };
  } catch (error) {
    throw new Error(
      `the script of the HTML report is missing from ${directory}: run npm run build:ts`,
      {
        cause: error,
      },
    );
  }
}
