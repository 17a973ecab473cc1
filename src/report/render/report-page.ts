/** `report.html`: region reports as an interactive page. */
import { plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Block,
  code,
  FAMILIES_ID,
  heading,
  link,
  list,
  type Table,
  tableOf,
} from "../../pages/blocks.ts";
import {
  escapeHtml,
  notesSection,
  type PageAssets,
  readPageAssets,
  renderHtml,
  renderPage,
} from "../../pages/html.ts";
import { formatDuration } from "../../pages/numbers.ts";
import type { NCUProfileRegionReport, RankInfo, RegionReportBundle } from "../model/document.ts";
import { answerBlocks, answerOf } from "../view/answer.ts";
import type { EncodedTimeline, PageData } from "../view/page-data.ts";
import {
  COMMUNICATION_LEGEND,
  communicationTable,
  counterTable,
  familiesTable,
  hostCallTable,
  payloadTable,
  provenanceTable,
  ranksTable,
  threadTable,
} from "../view/report-tables.ts";
import { type KernelWords, reportKernelWords, wholeMs } from "../view/times.ts";
import { regionLabels } from "../view/tree-rows.ts";
import { type Detail, MAX_PAGE_BYTES, pageDataLevels } from "./report-page-data.ts";

/** The contents of a page in addition to the report. */
export interface HtmlReportOptions {
  readonly title: string;
  /** The configuration, one line per value, with the origin of the value. */
  readonly config?: readonly ConfigLine[];
  /** Files beside the page, by their relative paths. */
  readonly files?: readonly string[];
  /** The imported file; the title of the page if no command is known. */
  readonly source?: string;
  /** Reports of other collectors of the same run. */
  readonly beside?: readonly RegionReportBundle[];
  /** For a failed run: the end of its standard error, and the file with all of it, relative to the page. */
  readonly output?: { readonly end: string; readonly file: string };
  /** The timeline; a large one is written to a page of its own. */
  readonly timeline?: EncodedTimeline;
  /**
   * The page's script and style; read from the build when absent.
   * @internal
   */
  readonly assets?: PageAssets;
}

/** A value of the configuration, as text. */
export interface ConfigLine {
  readonly key: string;
  readonly value: string;
  /** E.g. `conf/config.yaml:12` or `override 'infer.batch_size=8'`. */
  readonly origin: string;
}

/**
 * One self-contained file. A report that is too large is reduced to its longest regions and kernels, and the page says
 * what it leaves out.
 */
export function renderHtmlReport(bundle: RegionReportBundle, options: HtmlReportOptions): string {
  const assets = options.assets ?? readPageAssets("report");
  let page = "";
  for (const { data, detail, left } of pageDataLevels(bundle)) {
    const body = renderBody(bundle, options, detail, left);
    page = renderPage(
      { title: titleOf(bundle, options), body, ...withTimeline(data, options.timeline) },
      assets,
    );
    if (Buffer.byteLength(page) <= MAX_PAGE_BYTES) break;
  }
  return page;
}

/** A larger timeline has a page of its own. */
const MOST_TIMELINE_BYTES = 800_000;

export const fitsPage = ({ bytes, names }: EncodedTimeline): boolean =>
  bytes.length + names.reduce((sum, { length }) => sum + length, 0) <= MOST_TIMELINE_BYTES;

function withTimeline(data: PageData, timeline: EncodedTimeline | undefined) {
  if (timeline === undefined || !fitsPage(timeline)) return { data };
  const { bytes, ...rows } = timeline;
  return { data: { ...data, timeline: rows }, timeline: bytes };
}

/** `timeline.html`: a page with only the timeline, of up to a million events. */
export function renderTimelinePage(
  timeline: EncodedTimeline,
  { title, assets = readPageAssets("report") }: Pick<HtmlReportOptions, "title" | "assets">,
): string {
  const { bytes, ...rows } = timeline;
  const data: PageData = { strings: [], scopes: [], timeline: rows };
  const body = `<header class="top">${renderHtml([heading(1, title)])}<div id="controls" class="controls"></div></header>
<noscript><p class="notice">This page needs JavaScript for its timeline.</p></noscript>
<main id="report"></main>`;
  return renderPage({ title, body, data, timeline: bytes }, assets);
}

/** The title of the browser's window, which begins with the most specific part. */
function titleOf({ reports: [main] }: RegionReportBundle, options: HtmlReportOptions): string {
  const names = main === undefined ? null : pageNames(main, options);
  return names === null ? options.title : `${names.heading} · ${names.line}`;
}

function renderBody(
  bundle: RegionReportBundle,
  options: HtmlReportOptions,
  { text: textLimit, lines }: Detail,
  left: readonly string[],
): string {
  const { title, config = [], files = [], beside = [], output, timeline } = options;
  const [main] = bundle.reports;
  const answer = answerOf(bundle, beside);
  const notes = upTo(lines, main?.notes ?? [], "note");
  const html = (...blocks: readonly Block[]) => renderHtml(blocks, { textLimit });
  const names = main === undefined ? null : pageNames(main, options);
  const ofAnswer =
    answer === null
      ? ""
      : `<section class="answer${answer.failure === null ? "" : " failed"}" aria-labelledby="answer-heading"><h2 id="answer-heading">Where the time went</h2>${html(...answerBlocks(answer))}${failureHtml(answer.failure, output, textLimit)}</section>`;
  return `<a class="skip" href="#regions">Skip to the regions</a>
<header class="top">
${html(heading(1, names?.heading ?? title))}
${names === null ? "" : `<p class="summary">${escapeHtml(names.line)}</p>`}
<p class="summary">${main === undefined ? "No reports." : summary(main)}</p>
<div id="controls" class="controls"></div>
</header>
<noscript><p class="notice">This page needs JavaScript for its tables and charts. The same facts are in report.md beside it.</p></noscript>
${ofAnswer}
${timeline === undefined || fitsPage(timeline) ? "" : `<p class="hint"><a href="timeline.html">When it happened: the timeline</a></p>`}
${left.length === 0 ? "" : `<p class="notice" id="left-out">Left out of this page, see report.json: ${escapeHtml(left.join("; "))}.</p>`}
<main id="report"></main>
${main === undefined ? "" : tablesHtml(main, lines, html)}${main === undefined ? "" : rankMapHtml(main, lines, html)}${notesSection(notes, MOST_NOTE)}
<section aria-labelledby="provenance-heading"><h2 id="provenance-heading">Provenance</h2>
${main === undefined ? "" : html(provenanceTable(main))}
${files.length === 0 ? "" : html(heading(3, "Files"), list(files.map((file) => [link(file, file)])))}
${config.length === 0 ? "" : configDetails(config.length, lines, html(configTable(config.slice(0, lines))))}
</section>`;
}

/** A page is identified by its program, the time of the run, and the overrides. */
function pageNames(
  { environment, generated_at, collector }: NCUProfileRegionReport,
  { config = [], source }: HtmlReportOptions,
): { readonly heading: string; readonly line: string } | null {
  const [program = source, ...args] = environment.command;
  const name = program?.split(/[/\\]/).at(-1);
  const overrides = config.filter(({ origin }) => origin.startsWith("override"));
  const set = overrides
    .filter(({ key }) => !/^(?:hydra|workload)[.[]?/.test(key))
    .map(({ key, value }) => `${key}=${value}`);
  const when = generated_at.slice(0, 16).replace("T", " ");
  if (name === undefined) return null;
  return {
    heading: printableLabel([name, ...args].join(" "), MOST_HEADING),
    line: [
      `${collector.name} report of ${when} UTC`,
      ...(set.length === 0 ? [] : [printableLabel(set.join(" "), MOST_SET)]),
    ].join(" · "),
  };
}

const MOST_HEADING = 120;
const MOST_NOTE = 400;
const MOST_SET = 300;

/** The cause of a failure: the end of the program's output. */
function failureHtml(
  failure: string | null,
  output: HtmlReportOptions["output"],
  textLimit: number,
): string {
  if (failure === null || output === undefined || output.end === "") return "";
  const end = output.end.length > textLimit ? `…${output.end.slice(-textLimit)}` : output.end;
  return `<h3>The end of its standard error</h3><pre tabindex="0">${escapeHtml(end)}</pre><p>${renderHtml([list([[link("All of it", output.file)]])])}</p>`;
}

/** Families, times by thread, calls of CUDA and of the system, payloads of ranges, and the program's counters while they were open. */
function tablesHtml(
  report: NCUProfileRegionReport,
  most: number,
  html: (...blocks: readonly Block[]) => string,
): string {
  const { regions } = report;
  const some = regions
    .filter((candidate) => candidate.payloads ?? candidate.counters)
    .slice(0, most);
  const section = (id: string, title: string, blocks: readonly Block[]) =>
    blocks.length === 0
      ? ""
      : `<section id="${id}" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${title}</h2><div class="scroll" tabindex="0" role="region" aria-label="${title}">${html(...blocks)}</div></section>`;
  return [
    section(FAMILIES_ID, "Families", familiesTable(report, Math.min(most, MOST_FAMILIES))),
    section("threads", "Threads", threadTable(regions)),
    section("cuda-calls", "CUDA API calls", hostCallTable(regions, "cuda")),
    section("os-calls", "OS runtime calls", hostCallTable(regions, "os")),
    section("payloads", "Payloads", payloadTable(some, regions)),
    section("counters", "Counters", counterTable(some, regions)),
  ].join("");
}

/** Maximum number of families that the page lists; `report.json` has all. */
const MOST_FAMILIES = 200;

/** Shades, from light to dark, for the time of a rank relative to the slowest one. */
const SHADES = 5;
const CELL = 14;

/** Ranks by regions: a table, and a map whose cells are darker for slower ranks. */
function rankMapHtml(
  { regions, ranks = [] }: Pick<NCUProfileRegionReport, "regions" | "ranks">,
  most: number,
  html: (...blocks: readonly Block[]) => string,
): string {
  const shown = regions
    .filter((candidate) => candidate.ranks && candidate.kind !== "outside")
    .slice(0, most);
  if (shown.length === 0) return "";
  const labelOf = regionLabels(shown);
  const rows = shown.map((region) => {
    const { wall_ms = [], max_ms = 0 } = region.ranks ?? {};
    const cells = wall_ms.map((ms, index) => {
      const shade = ms === null || max_ms === 0 ? 0 : Math.ceil((ms / max_ms) * SHADES);
      const { rank = index, host = "" } = ranks[index] ?? {};
      const title = `rank ${rank}${host === "" ? "" : ` on ${host}`}: ${ms === null ? "not entered" : formatDuration(ms)}`;
      return `<rect class="shade-${shade}" x="${index * CELL}" y="0" width="${CELL - 1}" height="${CELL - 1}"><title>${escapeHtml(title)}</title></rect>`;
    });
    const width = wall_ms.length * CELL;
    return `<tr><th scope="row">${escapeHtml(printableLabel(labelOf(region), MOST_HEADING))}</th><td><svg class="ranks" viewBox="0 0 ${width} ${CELL}" width="${width}" height="${CELL}" role="img" aria-label="ranks 0 to ${wall_ms.length - 1}">${cells.join("")}</svg></td></tr>`;
  });
  return `<section aria-labelledby="ranks-heading"><h2 id="ranks-heading">Ranks</h2><div class="scroll" tabindex="0" role="region" aria-label="Ranks">${html(...ranksTable(shown))}</div>
<p class="hint">Regions by ranks, from rank 0 on the left: the darker, the nearer to the slowest rank.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Regions by ranks"><table class="facts"><tbody>${rows.join("")}</tbody></table></div>${communicationHtml(ranks, html)}</section>`;
}

/** Maximum number of ranks whose communication the page lists; `report.json` has all. */
const MOST_RANKS = 256;

function communicationHtml(
  ranks: readonly RankInfo[],
  html: (...blocks: readonly Block[]) => string,
): string {
  const table = communicationTable({ ranks: ranks.slice(0, MOST_RANKS) });
  return table.length === 0
    ? ""
    : `<h3>Communication of ranks</h3><p class="hint">${COMMUNICATION_LEGEND}</p><div class="scroll" tabindex="0" role="region" aria-label="Communication of ranks">${html(...table)}</div>`;
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

/** Ranges that were measured as a whole have a time, but no counted kernels. */
function counted(
  { kernel_count }: NCUProfileRegionReport["totals"],
  wholeMs: number | null,
  words: KernelWords,
): string {
  if (kernel_count === 0 && wholeMs !== null && wholeMs > 0)
    return `${formatDuration(wholeMs)} of ${words.time}`;
  return `${plural(kernel_count, words.singular, words.plural)}${wholeMs === null ? "" : ` (${formatDuration(wholeMs)})`}`;
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

/** The first lines, and the number of the others. */
const upTo = (limit: number, lines: readonly string[], what: string): readonly string[] =>
  lines.length <= limit
    ? lines
    : [...lines.slice(0, limit), `${plural(lines.length - limit, `more ${what}`)} in report.json`];
