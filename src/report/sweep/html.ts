/** A sweep as a page: the matrix, sortable and filterable, and scaling curves of any region. */

import { plural } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { type PageAssets, readPageAssets } from "../html/assets.ts";
import { escapeHtml } from "../html/escape.ts";
import { renderPage } from "../html/page.ts";
import { forPage } from "../numbers.ts";
import type { SweepReport } from "./document.ts";
import { regionNames } from "./region-names.ts";
import { basisInWords } from "./writers.ts";

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
      total_ms: forPage(job.total_ms),
    })),
    best: best && printableLabel(best, 80),
    regions: regions.slice(0, most).map((region, at) => ({
      ...region,
      path: [printableLabel(names[at] ?? "", 300)],
      times_ms: region.times_ms.map((ms) => forPage(ms)),
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
