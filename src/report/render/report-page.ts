/** `report.html`: region reports as a page to explore. */
import { plural } from "../../text/plural.ts";
import type { NCUProfileRegionReport, RegionReportBundle } from "../model/document.ts";
import { answerOf } from "../view/answer.ts";
import { answerBlocks } from "../view/answer-blocks.ts";
import { type Block, code, heading, link, list, type Table, tableOf } from "../view/blocks.ts";
import { type KernelWords, reportKernelWords } from "../view/kernel-words.ts";
import { formatDuration } from "../view/numbers.ts";
import { provenanceTable } from "../view/provenance.ts";
import { wholeMs } from "../view/times.ts";
import { buildPageData, DETAILS, type Detail, MAX_PAGE_BYTES } from "./build-page-data.ts";
import { createKernelSources } from "./fold-kernels.ts";
import { escapeHtml, renderHtml } from "./html.ts";
import { noticeSection, type PageAssets, readPageAssets, renderPage } from "./html-page.ts";

/** What a page shows beside the report. */
export interface HtmlReportOptions {
  readonly title: string;
  /** The configuration, a line per value with where it comes from. */
  readonly config?: readonly ConfigLine[];
  /** Files beside the page, by their relative paths. */
  readonly files?: readonly string[];
  /** What other collectors say of the same run. */
  readonly beside?: readonly RegionReportBundle[];
  /**
   * The page's script and style; read from the build when absent.
   * @internal
   */
  readonly assets?: PageAssets;
}

/** A value of the configuration, for people. */
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
  const assets = options.assets ?? readPageAssets("report");
  const sources = createKernelSources();
  let page = "";
  for (const [level, detail] of DETAILS.entries()) {
    // The last level is shown whatever it takes.
    const most = level === DETAILS.length - 1 ? Number.POSITIVE_INFINITY : MAX_PAGE_BYTES;
    const built = buildPageData(bundle, detail, sources, most);
    if (built === null) continue;
    const { data, left } = built;
    const body = renderBody(bundle, options, detail, left);
    page = renderPage({ title: options.title, body, data }, assets);
    if (Buffer.byteLength(page) <= MAX_PAGE_BYTES) break;
  }
  return page;
}

function renderBody(
  bundle: RegionReportBundle,
  { title, config = [], files = [], beside = [] }: HtmlReportOptions,
  { text: textLimit, lines }: Detail,
  left: readonly string[],
): string {
  const [main] = bundle.reports;
  const answer = answerOf(bundle, beside);
  const notes = upTo(lines, main?.notes ?? [], "note");
  const html = (...blocks: readonly Block[]) => renderHtml(blocks, { textLimit });
  return `<a class="skip" href="#regions">Skip to the regions</a>
<header class="top">
${html(heading(1, title))}
<p class="summary">${main === undefined ? "No reports." : summary(main)}</p>
<div id="controls" class="controls"></div>
</header>
<noscript><p class="notice">This page needs JavaScript for its tables and charts. The same facts are in report.md beside it.</p></noscript>
${answer === null ? "" : `<section class="answer" aria-labelledby="answer-heading"><h2 id="answer-heading">Where the time went</h2>${html(...answerBlocks(answer))}</section>`}
${noticeSection("notes", "Notes and warnings", notes, { textLimit })}
${left.length === 0 ? "" : `<p class="notice" id="left-out">Left out of this page, see report.json: ${escapeHtml(left.join("; "))}.</p>`}
<main id="report"></main>
<section aria-labelledby="provenance-heading"><h2 id="provenance-heading">Provenance</h2>
${main === undefined ? "" : html(provenanceTable(main))}
${files.length === 0 ? "" : html(heading(3, "Files"), list(files.map((file) => [link(file, file)])))}
${config.length === 0 ? "" : configDetails(config.length, lines, html(configTable(config.slice(0, lines))))}
</section>`;
}

function summary(report: NCUProfileRegionReport): string {
  const { totals, collector } = report;
  const whole = wholeMs(report);
  const words = reportKernelWords(report);
  const facts = [
    plural(totals.region_count, "region"),
    ...(totals.invocations === 0 ? [] : [plural(totals.invocations, "call")]),
    words === null ? "no GPU kernels or CPU operations recorded" : counted(totals, whole, words),
    totals.wall_ms === null ? "no wall time" : `${formatDuration(totals.wall_ms)} inside regions`,
    `collector ${collector.name} ${collector.version}`,
  ];
  return escapeHtml(facts.join(" · "));
}

/** Ranges that were measured as a whole have a time, and no kernels that were counted. */
function counted(
  { kernel_count }: NCUProfileRegionReport["totals"],
  wholeMs: number | null,
  words: KernelWords,
): string {
  if (kernel_count === 0 && wholeMs !== null && wholeMs > 0)
    return `${formatDuration(wholeMs)} of ${words.time}`;
  return `${plural(kernel_count, words.one, words.many)}${wholeMs === null ? "" : ` (${formatDuration(wholeMs)})`}`;
}

const configTable = (lines: readonly ConfigLine[]): Table =>
  tableOf<ConfigLine>(
    [
      { title: "Key", cell: ({ key }) => [code(key)] },
      { title: "Value", cell: ({ value }) => [code(value)] },
      { title: "From", cell: ({ origin }) => origin },
    ],
    lines,
  );

function configDetails(all: number, most: number, table: string): string {
  const left = most < all ? `; ${all - most} more in config.yaml` : "";
  return `<details><summary>Configuration (${plural(all, "value")}, with where each comes from${left})</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Configuration">${table}</div></details>`;
}

/** The first lines, and how many more there are. */
const upTo = (limit: number, lines: readonly string[], what: string): readonly string[] =>
  lines.length <= limit
    ? lines
    : [...lines.slice(0, limit), `${plural(lines.length - limit, `more ${what}`)} in report.json`];
