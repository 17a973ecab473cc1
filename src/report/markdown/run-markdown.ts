import { firstFewOf } from "../../text/plural.ts";
import { staticAnalysisBlocks } from "../conclusions/static-analysis.ts";
import { regionKey } from "../directory-name.ts";
import type { NCUProfileRegionReport } from "../document.ts";
import { checkRun } from "../report-options.ts";
import { mainReport, type RunSection, type RunSummary } from "../run-summary.ts";
import { regionLabels } from "../tree-rows.ts";
import {
  escapeMarkdown,
  type MarkdownBlock,
  markdownDocument,
  markdownLink,
  markdownList,
  markdownTable,
} from "./markdown.ts";
import { notesList, provenanceTable, regionTreeTable } from "./markdown-parts.ts";

/** `report.md` of a run: what each collector found, and the way to everything else. */
export function renderRunMarkdown(run: RunSummary): string {
  checkRun("renderRunMarkdown", run);
  const first = run.sections.map(mainReport).find((report) => report !== undefined);
  return markdownDocument([
    "# Profile",
    `${markdownLink("Summary in plain language", "stakeholder_summary.md")} · ${markdownLink("Kernels", "kernels.md")}`,
    ...heading("## Notes on the run", notesList(run.notes)),
    run.sections.length === 0 ? "No collector ran." : null,
    ...run.sections.flatMap(sectionBlocks),
    ...(run.staticAnalysis === undefined
      ? []
      : ["## Static analysis", ...staticAnalysisBlocks(run.staticAnalysis)]),
    ...heading("## Files", fileList(run.files ?? [])),
    ...(first === undefined ? [] : ["## Provenance", provenanceTable(first)]),
  ]);
}

function sectionBlocks(section: RunSection): readonly MarkdownBlock[] {
  const report = mainReport(section);
  const base = `${section.directory}/regions`;
  return [
    `## ${escapeMarkdown(section.collector)}`,
    fullReport(section, base),
    report === undefined ? null : regionTreeTable(report),
    report === undefined ? null : scopesLine(section),
    report === undefined ? null : notesList(report.notes),
    report === undefined ? null : regionLinks(report, section, base),
  ];
}

function fullReport({ html }: RunSection, base: string): string {
  const links = [
    ...(html === true ? [markdownLink("page", `${base}/report.html`)] : []),
    markdownLink("Markdown", `${base}/report.md`),
    markdownLink("JSON", `${base}/report.json`),
  ];
  return `Full report: ${links.join(", ")}.`;
}

/** A run of many processes has a scope for each. */
const MAX_SCOPES = 64;

function scopesLine({ bundle: { reports } }: RunSection): string {
  return `Scopes in the full report: ${firstFewOf(reports, MAX_SCOPES, ({ scope }) => escapeMarkdown(scope))}.`;
}

function regionLinks(
  report: NCUProfileRegionReport,
  { regionDirectories }: RunSection,
  base: string,
): string | null {
  const labelOf = regionLabels(report.regions);
  const rows = report.regions.flatMap((region) => {
    const name = regionDirectories.get(regionKey(region));
    if (name === undefined) return [];
    const label = escapeMarkdown(labelOf(region));
    return [[label, markdownLink(escapeMarkdown(name), `${base}/${name}/report.md`)]];
  });
  if (rows.length === 0) return null;
  return markdownTable([{ heading: "Region" }, { heading: "Its own report" }], rows);
}

const fileList = (files: readonly string[]): string | null =>
  files.length === 0
    ? null
    : markdownList(files.map((file) => markdownLink(escapeMarkdown(file), file)));

const heading = (text: string, block: string | null): readonly string[] =>
  block === null ? [] : [text, block];
