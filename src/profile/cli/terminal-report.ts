import type { NCUProfileRegionReport, RegionReportBundle } from "../../report/model/document.ts";
import { renderAnswer, renderRegionTable, renderTopKernels } from "../../report/render/terminal.ts";
import { answerOf } from "../../report/view/answer.ts";
import type { RegionSort } from "../../report/view/region-tables.ts";
import { answeringSection } from "../../report/view/run-summary.ts";
import { readablePath } from "../../system/files.ts";
import { printableLabel } from "../../text/printable.ts";
import { wrapText } from "../../text/text-width.ts";
import type { ProfileSection } from "../run/run.ts";

/** Where the result of a run is shown. */
export interface Terminal {
  readonly write: (text: string) => void;
  /** For what went wrong: seen also where the output goes to a file. */
  readonly writeError: (text: string) => void;
  /** Columns. */
  readonly width: number;
  readonly color: boolean;
}

/** More regions than fit a few screens are for the report, not for the terminal. */
const MAX_ROWS = 60;
/** Where there are no regions; `kernels.md` has more. */
const MAX_KERNELS = 10;
/** Notes can quote names of the program, of any length and content. */
const MAX_NOTE = 400;
const NOTE = "note: ";

/** The region table of each collector's main report, its notes, and where it ran. */
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

/** What takes the time of the run, from the collector that knows most about it. */
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

/** The table and the notes alone; without regions, the longest kernels. */
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
    for (const [at, line] of wrapText(
      printableLabel(note, MAX_NOTE),
      width - NOTE.length,
    ).entries())
      write(`${at === 0 ? NOTE : " ".repeat(NOTE.length)}${line}\n`);
}

/** Where the reports are. */
export function showFiles(
  files: readonly string[],
  { terminal, cwd }: { readonly terminal: Terminal; readonly cwd: string },
): void {
  for (const file of files) terminal.write(`${readablePath(file, cwd)}\n`);
}
