/** `report.html`: region reports as a page to explore. */
import type { NCUProfileRegionReport, RegionReportBundle } from "../document.ts";
import { reportKernelWords } from "../kernel-words.ts";
import { formatDuration, plural } from "../numbers.ts";
import { provenanceRows } from "../provenance.ts";
import { type PageAssets, readPageAssets } from "./assets.ts";
import { buildPageData } from "./build-page-data.ts";
import { DETAILS, MAX_PAGE_BYTES } from "./detail.ts";
import { escapeHtml } from "./escape.ts";
import { renderPage } from "./page.ts";

export interface HtmlReportOptions {
  readonly title: string;
  /** The configuration, a line per value with where it comes from. */
  readonly config?: readonly ConfigLine[];
  /** Files beside the page, by their relative paths. */
  readonly files?: readonly string[];
  /** The page's script and style; read from the build when absent. */
  readonly assets?: PageAssets;
  /** Most bytes of the page. */
  readonly maxBytes?: number;
}

export interface ConfigLine {
  readonly key: string;
  readonly value: string;
  /** E.g. `conf/config.yaml:12` or `override 'infer.batch_size=8'`. */
  readonly origin: string;
}

/**
 * One self-contained file. A report too large for it is cut down, the longest regions and kernels
 * last, and the page says what it leaves out.
 */
export function renderHtmlReport(bundle: RegionReportBundle, options: HtmlReportOptions): string {
  const assets = options.assets ?? readPageAssets();
  const limit = options.maxBytes ?? MAX_PAGE_BYTES;
  let page = "";
  for (const detail of DETAILS) {
    const { data, left } = buildPageData(bundle, detail);
    const body = renderBody(bundle, options, left);
    page = renderPage({ title: options.title, body, data }, assets);
    if (Buffer.byteLength(page) <= limit) break;
  }
  return page;
}

function renderBody(
  bundle: RegionReportBundle,
  { title, config = [], files = [] }: HtmlReportOptions,
  left: readonly string[],
): string {
  const [main] = bundle.reports;
  const notes = main?.notes ?? [];
  return `<a class="skip" href="#regions">Skip to the regions</a>
<header class="top">
<h1>${escapeHtml(title)}</h1>
<p class="summary">${main === undefined ? "No reports." : summary(main)}</p>
<div id="controls" class="controls"></div>
</header>
<noscript><p class="notice">This page needs JavaScript for its tables and charts. The same facts are in report.md beside it.</p></noscript>
${list("Notes and warnings", "notes", notes)}
${left.length === 0 ? "" : `<p class="notice" id="left-out">Left out of this page, see report.json: ${escapeHtml(left.join("; "))}.</p>`}
<main id="report"></main>
<section aria-labelledby="provenance-heading"><h2 id="provenance-heading">Provenance</h2>
${main === undefined ? "" : provenance(main)}
${fileLinks(files)}
${configTable(config)}
</section>`;
}

function summary(report: NCUProfileRegionReport): string {
  const { totals, collector } = report;
  const words = reportKernelWords(report);
  const facts = [
    plural(totals.region_count, "region"),
    plural(totals.invocations, "call"),
    words === null
      ? "no GPU kernels or CPU operations recorded"
      : `${plural(totals.kernel_count, words.one, words.many)}${totals.total_ms === null ? "" : ` (${formatDuration(totals.total_ms)})`}`,
    totals.wall_ms === null ? "no wall time" : `${formatDuration(totals.wall_ms)} inside regions`,
    `collector ${collector.name} ${collector.version}`,
  ];
  return escapeHtml(facts.join(" · "));
}

const provenance = (report: NCUProfileRegionReport): string =>
  `<table class="facts"><tbody>${provenanceRows(report)
    .map(({ name, text, code }) => {
      const shown = escapeHtml(text);
      return `<tr><th scope="row">${name}</th><td>${code ? `<code>${shown}</code>` : shown}</td></tr>`;
    })
    .join("")}</tbody></table>`;

const fileLinks = (files: readonly string[]): string =>
  files.length === 0
    ? ""
    : `<h3>Files</h3><ul>${files.map((file) => `<li><a href="${escapeHtml(linkTo(file))}">${escapeHtml(file)}</a></li>`).join("")}</ul>`;

const linkTo = (file: string): string => file.split("/").map(encodeURIComponent).join("/");

function configTable(config: readonly ConfigLine[]): string {
  if (config.length === 0) return "";
  const rows = config.map(
    ({ key, value, origin }) =>
      `<tr><th scope="row"><code>${escapeHtml(key)}</code></th><td><code>${escapeHtml(value)}</code></td><td>${escapeHtml(origin)}</td></tr>`,
  );
  return `<details><summary>Configuration (${plural(config.length, "value")}, with where each comes from)</summary>
<table class="facts"><thead><tr><th scope="col">Key</th><th scope="col">Value</th><th scope="col">From</th></tr></thead><tbody>${rows.join("")}</tbody></table></details>`;
}

const list = (heading: string, id: string, items: readonly string[]): string =>
  items.length === 0
    ? ""
    : `<section class="notice" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${heading}</h2><ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</ul></section>`;
