/** A sweep's report as a page, Markdown, JSON and CSV. */
import { plural } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { pathLines } from "../model/region-path.ts";
import { csvRow, domainColumn } from "../render/csv.ts";
import { escapeHtml, type PageAssets, readPageAssets, renderPage } from "../render/html-page.ts";
import { jsonPieces } from "../render/json.ts";
import {
  escapeMarkdown,
  markdownDocument,
  markdownLabel,
  markdownList,
  markdownTable,
} from "../render/markdown.ts";
import { formatMs, NOT_MEASURED, roundedForPage } from "../view/numbers.ts";
import { curvesOf, type SweepRegion, type SweepReport, scalingExponent } from "./document.ts";

/** In pieces: 20 million times are longer than one string can be. */
export const sweepJsonPieces = (report: SweepReport): Iterable<string> =>
  jsonPieces(report, LEVELS_TO_TIMES);

/** Report, regions, region, times. */
const LEVELS_TO_TIMES = 4;

/** One record per region and job, for spreadsheets and data frames. */
export function* renderSweepCsv({
  regions,
  jobs,
  parameters,
  basis,
}: SweepReport): Generator<string> {
  const domains = domainColumn(regions);
  const columns = ["region", "domain", "kind", basis, ...domains.head];
  yield csvRow(["job", ...parameters.map(({ key }) => key), ...columns]);
  for (const [at, { name, values, total_ms }] of jobs.entries()) {
    const ofJob = [name, ...values];
    yield csvRow([...ofJob, "(whole job)", "", "", total_ms, ...domains.head.map(() => "")]);
    for (const region of regions) {
      const { path, domain, kind, times_ms } = region;
      const place = [path.join(" / "), domain, kind];
      yield csvRow([...ofJob, ...place, times_ms[at] ?? null, ...domains.cells(region)]);
    }
  }
}

/** What the numbers are, in words. */
export const basisInWords = ({ basis }: Pick<SweepReport, "basis">): string =>
  basis === "total_ms" ? "time of kernels or CPU operations" : "wall time";

/** A wider table is read by nobody. */
const MAX_JOBS = 12;

export function renderSweepMarkdown(report: SweepReport): string {
  const { jobs, parameters, notes, best, collector } = report;
  const label = (text: string | null) =>
    escapeMarkdown(text === null ? NOT_MEASURED : printableLabel(text));
  const jobRows = jobs.map(({ name, values, total_ms, problem }) => [
    name === best ? `**${label(name)}**` : label(name),
    ...values.map(label),
    formatMs(total_ms),
    problem === null ? (name === best ? "best" : "") : label(problem),
  ]);
  return markdownDocument([
    "# Sweep report",
    `${plural(jobs.length, "job")}, collector ${escapeMarkdown(collector)}. Numbers are ${basisInWords(report)} in ms; ${best === null ? "no job has any" : `job ${label(best)} took the least time`}.`,
    ...(notes.length === 0
      ? []
      : [markdownList(notes.map((note) => escapeMarkdown(printableLabel(note, 600))))]),
    "## Jobs",
    markdownTable(
      [
        { heading: "Job" },
        ...parameters.map(({ key }) => ({ heading: escapeMarkdown(printableLabel(key)) })),
        { heading: "ms", align: "right" as const },
        { heading: "" },
      ],
      jobRows,
    ),
    "## Regions",
    matrix(report),
    ...scaling(report),
  ]);
}

function matrix({ jobs, regions, parameters }: SweepReport): string {
  if (regions.length === 0) return "No regions.";
  const names = regionNames(regions);
  const shown = jobs.slice(0, MAX_JOBS);
  const heading = ({ name, values }: SweepReport["jobs"][number]) =>
    escapeMarkdown(
      parameters.length === 1
        ? printableLabel(values[0] ?? NOT_MEASURED, 40)
        : printableLabel(name, 40),
    );
  const table = markdownTable(
    [
      { heading: "Region" },
      ...shown.map((job) => ({ heading: heading(job), align: "right" as const })),
    ],
    regions.map(({ times_ms }, region) => [
      markdownLabel(names[region] ?? ""),
      ...shown.map((_, at) => formatMs(times_ms[at] ?? null)),
    ]),
  );
  const left = jobs.length - shown.length;
  return left === 0
    ? table
    : `${table}\n\n${plural(left, "more job is", "more jobs are")} in sweep-report.html and sweep-report.csv.`;
}

/** Of the whole jobs: the page has the curves of every region. */
function scaling(report: SweepReport): readonly string[] {
  const rows = report.parameters.flatMap(({ key, numeric }, at) =>
    numeric
      ? curvesOf(report, at).flatMap(({ label, points }) => {
          const exponent = scalingExponent(points);
          return exponent === null
            ? []
            : [
                [
                  escapeMarkdown(printableLabel(key)),
                  label === "" ? "" : escapeMarkdown(printableLabel(label)),
                  points.map(({ x, ms }) => `${x}: ${formatMs(ms)}`).join(", "),
                  exponent.toFixed(2),
                ],
              ];
        })
      : [],
  );
  if (rows.length === 0) return [];
  return [
    "## Scaling",
    markdownTable(
      [
        { heading: "Parameter" },
        { heading: "With" },
        { heading: "ms" },
        { heading: "Exponent", align: "right" },
      ],
      rows,
    ),
    "The exponent shows how time grows with the parameter: 1 means proportionally, 0 not at all.",
  ];
}

// A sweep as a page: the matrix, sortable and filterable, and scaling curves of any region.

/** Numbers of the matrix: a page of 1 MB bears no more. */
const MAX_CELLS = 40_000;

export function renderSweepHtml(
  report: SweepReport,
  assets: PageAssets = readPageAssets("sweep"),
): string {
  const { jobs, regions, notes, best, collector } = report;
  const most = Math.floor(MAX_CELLS / Math.max(1, jobs.length));
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
    regions: regions.slice(0, most).map((region, at) => ({
      ...region,
      path: [printableLabel(names[at] ?? "", 300)],
      times_ms: region.times_ms.map((ms) => roundedForPage(ms)),
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
  const body = `<header class="top"><h1>Sweep</h1>
<p class="summary">${plural(jobs.length, "job")}, collector ${escapeHtml(collector)}; ${basisInWords(report)} in ms${best === null ? "" : `; job ${escapeHtml(printableLabel(best, 80))} took the least time`}</p>
<div id="controls" class="controls"></div></header>
<noscript><p class="notice">This page needs JavaScript for its tables and charts. The same facts are in sweep-report.md beside it.</p></noscript>
${lines.length === 0 ? "" : `<ul class="notice">${lines.map((note) => `<li>${escapeHtml(printableLabel(note, 600))}</li>`).join("")}</ul>`}
<main id="sweep"></main>`;
  return renderPage({ title: "Sweep", body, data }, assets);
}

/** What a sweep's reports call its regions. */
const regionNames = (regions: readonly SweepRegion[]): readonly string[] =>
  regions.map(pathLines(regions));
