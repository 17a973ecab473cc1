/** A sweep, or several beside each other, as a page in one file. */
import { printableLabel } from "../../../foundation/text/printable.ts";
import { escapeHtml, notesSection, type PageAssets, renderPage } from "../../../pages/html.ts";
import type { SweepPageData } from "./sweep-page-data.ts";

/** @param title plain text: the name of the sweep */
export function renderSweepPage(title: string, data: SweepPageData, assets: PageAssets): string {
  const heading = escapeHtml(printableLabel(title, 120));
  const body = `<header class="top"><h1>${heading}</h1>
<p class="summary" id="summary"></p>
<div id="controls" class="controls"></div></header>
<noscript><p class="notice">This page needs JavaScript for its tables and charts. The same jobs are in sweep.md and sweep.csv beside it.</p></noscript>
<p class="answer-line" id="best"></p>
<main id="sweep"></main>
${notesSection(data.left)}`;
  const isLive = data.isLive === true;
  return renderPage({ title, body, data, ...(isLive && { isLive }) }, assets);
}
