/** The report of a sweep as a page, Markdown, JSON and CSV. */

import { plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { type Block, heading, listIfAny, paragraph, withHeading } from "../../pages/blocks.ts";
import { renderCsv } from "../../pages/csv.ts";
import {
  escapeHtml,
  notesSection,
  type PageAssets,
  readPageAssets,
  renderPage,
} from "../../pages/html.ts";
import { renderMarkdown } from "../../pages/markdown.ts";
import { NOT_MEASURED, roundedForPage } from "../../pages/numbers.ts";
import { pathLines } from "../model/region-path.ts";
import { jsonPieces } from "../render/json.ts";
import type { SweepCalls, SweepRegion, SweepReport, SweepWork } from "./sweep-types.ts";
import {
  basisInWords,
  callsTable,
  headlineOf,
  jobTable,
  jobTitle,
  mostCalled,
  regionMatrix,
  scalingTable,
  sweepRecords,
} from "./tables.ts";

/** In pieces: 20 million times exceed the longest string. */
export const sweepJsonPieces = (report: SweepReport): Iterable<string> =>
  jsonPieces(report, LEVELS_TO_TIMES);

/** The levels of the document down to times: report, regions, region, times. */
const LEVELS_TO_TIMES = 4;

/** One record per region and job, for spreadsheets and data frames. */
export const renderSweepCsv = (report: SweepReport): Iterable<string> =>
  renderCsv(sweepRecords(report));

/** A wider table is unreadable. */
const MAX_JOBS = 12;

export const renderSweepMarkdown = (report: SweepReport): string =>
  renderMarkdown(sweepBlocks(report));

function sweepBlocks(report: SweepReport): readonly Block[] {
  const { jobs, notes, collector, work } = report;
  return [
    heading(1, "Sweep report"),
    paragraph(
      `${plural(jobs.length, "job")}, collector ${collector}. Numbers are ${basisInWords(report)} in ms. ${printableLabel(headlineOf(report), 400)}${work === undefined ? "" : ` ${printableLabel(workInWords(work), 300)}.`}`,
    ),
    ...listIfAny(notes.map((note) => printableLabel(note, 600))),
    heading(2, "Jobs"),
    jobTable(report),
    heading(2, "Regions"),
    ...matrixBlocks(report),
    ...callsBlocks(report),
    ...withHeading(
      "Scaling",
      scalingTable(report).flatMap((table) => [
        table,
        paragraph(
          "The exponent shows how time grows with the parameter: 1 means proportionally, 0 not at all; ± is its 95 % interval. Where R² is below 0.9, the times follow no power of the parameter.",
        ),
      ]),
    ),
  ];
}

function matrixBlocks(report: SweepReport): readonly Block[] {
  const { jobs, regions, parameters } = report;
  if (regions.length === 0) return [paragraph("No regions.")];
  const shown = { regions, parameters, jobs: jobs.slice(0, MAX_JOBS) };
  const left = jobs.length - shown.jobs.length;
  const titleOf = (job: SweepReport["jobs"][number]) =>
    printableLabel(
      parameters.length === 1 ? (job.values[0] ?? NOT_MEASURED) : jobTitle(job, parameters),
      60,
    );
  const names = regionNames(regions).map((name) => printableLabel(name));
  return [
    regionMatrix(shown, names, titleOf),
    ...(left === 0
      ? []
      : [
          paragraph(
            `${plural(left, "more job is", "more jobs are")} in sweep-report.html and sweep-report.csv.`,
          ),
        ]),
  ];
}

/** The calls of the region with the most time; the page has all regions. */
function callsBlocks(report: SweepReport): readonly Block[] {
  const { regions } = report;
  const region = mostCalled(regions);
  if (region === null) return [];
  const name = printableLabel(regionNames(regions)[regions.indexOf(region)] ?? "");
  return withHeading(`Calls of ${name}`, [
    ...callsTable(report, region),
    paragraph("Wall time of single calls in each job; sweep-report.csv has those of each region."),
  ]);
}

// A sweep as a page: the matrix, sortable and filterable, and scaling curves of any region.

/** Maximum number of values in the matrix of a page of 1 MB. Statistics of calls count as three values. */
const MAX_CELLS = 40_000;
const CELLS_WITH_CALLS = 4;

export function renderSweepHtml(
  report: SweepReport,
  assets: PageAssets = readPageAssets("sweep-report"),
): string {
  const { jobs, regions, notes, best, collector, work } = report;
  const haveCalls = regions.some(({ calls_ms }) => calls_ms !== undefined);
  const cells = Math.max(1, jobs.length) * (haveCalls ? CELLS_WITH_CALLS : 1);
  const most = Math.floor(MAX_CELLS / cells);
  const names = regionNames(regions);
  const data: SweepReport = {
    ...report,
    jobs: jobs.map((job) => ({
      ...job,
      name: printableLabel(job.name, 80),
      values: job.values.map((value) => value && printableLabel(value, 80)),
      total_ms: roundedForPage(job.total_ms),
    })),
    best: best && printableLabel(best, 80),
    regions: regions.slice(0, most).map((region, index) => ({
      ...region,
      path: [printableLabel(names[index] ?? "", 300)],
      times_ms: region.times_ms.map((ms) => roundedForPage(ms)),
      ...(region.calls_ms && { calls_ms: region.calls_ms.map(roundedCalls) }),
    })),
  };
  const left = regions.length - data.regions.length;
  const lines = [
    ...notes,
    ...(left > 0
      ? [
          `${plural(left, "region is", "regions are")} left out of this page; sweep-report.csv has all`,
        ]
      : []),
  ];
  const summary = `${plural(jobs.length, "job")}, collector ${collector}; ${basisInWords(report)} in ms${work === undefined ? "" : `; ${printableLabel(workInWords(work), 300)}`}`;
  const body = `<header class="top"><h1>Sweep</h1>
<p class="summary">${escapeHtml(summary)}</p>
<div id="controls" class="controls"></div></header>
<noscript><p class="notice">This page needs JavaScript for its tables and charts. The same facts are in sweep-report.md beside it.</p></noscript>
<p class="answer-line">${escapeHtml(printableLabel(headlineOf(report), 400))}</p>
<main id="sweep"></main>
${notesSection(lines)}`;
  return renderPage({ title: "Sweep", body, data }, assets);
}

const roundedCalls = (calls: SweepCalls | null): SweepCalls | null =>
  calls && {
    calls: calls.calls,
    min: roundedForPage(calls.min),
    median: roundedForPage(calls.median),
    p95: roundedForPage(calls.p95),
    max: roundedForPage(calls.max),
  };

/** The work in words: `images: infer.batch_size * 10 in each job`. */
const workInWords = ({ unit, factors }: SweepWork): string =>
  `${unit}: ${factors.join(" * ")} in each job`;

/** The names of regions in the reports of a sweep. */
const regionNames = (regions: readonly SweepRegion[]): readonly string[] =>
  regions.map(pathLines(regions));
