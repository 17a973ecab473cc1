/** The result of a run as a terminal shows it. */
import { readablePath } from "../../foundation/system/files.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { wrapText } from "../../foundation/text/text-width.ts";
import type { NCUProfileRegionReport, RegionReportBundle } from "../../report/model/document.ts";
import { renderAnswer, renderRegionTable, renderTopKernels } from "../../report/render/terminal.ts";
import { answerOf } from "../../report/view/answer.ts";
import type { RegionSort } from "../../report/view/report-tables.ts";
import { answeringSection } from "../../report/view/run-summary.ts";
import type { ProfileSection } from "../run/run.ts";

/** The terminal that shows the result of a run. */
export interface Terminal {
  readonly write: (text: string) => void;
  /** For failures, which are visible even if the output is redirected to a file. */
  readonly writeError: (text: string) => void;
  /** The width in columns. */
  readonly width: number;
  readonly color: boolean;
}

/** More regions would fill several screens; the report has all. */
const MAX_ROWS = 60;
/** The number of kernels shown if there are no regions; `kernels.md` has more. */
const MAX_KERNELS = 10;
/** The maximum length of a note, which may quote names of the program. */
const MAX_NOTE = 400;
const NOTE = "note: ";

/** For each collector, the region table of its main report, its notes, and the device. */
export function showRegions(
  sections: readonly ProfileSection[],
  terminal: Terminal,
  sort?: RegionSort,
): void {
  showAnswer(sections, terminal);
  for (const { bundle } of sections) {
    const [report] = bundle.reports;
    if (report === undefined) continue;
    showReport(report, terminal, sort);
    const { device, cpu } = report.environment;
    const where = device === null ? cpu : `${device} (${cpu})`;
    terminal.write(`\nrecorded by ${report.collector.name} on ${where}\n`);
  }
}

/** What takes the time of the run, from the collector that recorded most about it. */
export function showAnswer(
  sections: readonly { readonly bundle: RegionReportBundle }[],
  { width, color, write }: Terminal,
): void {
  const section = answeringSection(sections);
  if (section === undefined) return;
  const beside = sections.flatMap((other) => (other === section ? [] : [other.bundle]));
  const answer = answerOf(section.bundle, beside);
  if (answer !== null) write(`\n${renderAnswer(answer, { width, color })}`);
}

/** Only the table and the notes; without regions, the longest kernels. */
export function showReport(
  report: NCUProfileRegionReport,
  { width, color, write }: Terminal,
  sort: RegionSort = "exclusive",
): void {
  write(`\n${renderRegionTable(report, { width, color, maxRows: MAX_ROWS, sort })}`);
  if (report.totals.region_count === 0) {
    const kernels = renderTopKernels(report, { width, color }, MAX_KERNELS);
    if (kernels !== "") write(`\n${kernels}`);
  }
  for (const note of report.notes)
    for (const [index, line] of wrapText(
      printableLabel(note, MAX_NOTE),
      width - NOTE.length,
    ).entries())
      write(`${index === 0 ? NOTE : " ".repeat(NOTE.length)}${line}\n`);
}

/** The paths of the reports. */
export function showFiles(
  files: readonly string[],
  { terminal, cwd }: { readonly terminal: Terminal; readonly cwd: string },
): void {
  for (const file of files) terminal.write(`${readablePath(file, cwd)}\n`);
}
