/** The frame of every HTML page of ours: one file, no network, a strict content security policy. */
import { createHash } from "node:crypto";
import type { PageAssets } from "./assets.ts";
import { escapeHtml, scriptJson } from "./escape.ts";

export interface Page {
  /** Plain text. */
  readonly title: string;
  /** HTML that is safe already. */
  readonly body: string;
  /** For the script, which finds it by the id `data`. */
  readonly data: unknown;
}

export function renderPage({ title, body, data }: Page, { script, style }: PageAssets): string {
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
<script>${script}</script>
</body>
</html>
`;
}

/** The only script and style that a browser runs here are ours, letter by letter. */
const hashSource = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
