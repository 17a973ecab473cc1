/** The Markdown of a whole run: `report.md` and `kernels.md`. */
import { firstFewOf, plural } from "../../text/plural.ts";
import type { KernelRecord, NCUProfileRegionReport } from "../model/document.ts";
import { regionKey } from "../model/report-files.ts";
import { hardwareLegend, wordsOfKinds } from "../view/kernel-columns.ts";
import { kernelsOfReport } from "../view/kernel-list.ts";
import { formatDuration, formatMs } from "../view/numbers.ts";
import { checkRun, mainReport, type RunSection, type RunSummary } from "../view/run-summary.ts";
import {
  type DevicePeaks,
  type LayerWork,
  passBoundMs,
  peakContradiction,
  rooflineBound,
  type StaticAnalysis,
} from "../view/static-analysis.ts";
import { wholeMs } from "../view/times.ts";
import { regionLabels } from "../view/tree-rows.ts";
import {
  escapeMarkdown,
  type MarkdownBlock,
  markdownDocument,
  markdownLink,
  markdownList,
  markdownTable,
} from "./markdown.ts";
import { kernelRows, notesList, provenanceTable, regionTreeTable } from "./markdown-tables.ts";

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

/** The section of `report.md`: the numbers in words, then the layers. */
export function staticAnalysisBlocks(analysis: StaticAnalysis): readonly string[] {
  const { parameters, peaks } = analysis;
  return [
    `The model has ${plural(parameters.count, "parameter")} (${(parameters.bytes / 1e6).toFixed(3)} MB in float32). Work of one forward pass, computed from the layer shapes, not measured; bytes assume that nothing stays in a cache.`,
    ...(peaks === null ? [] : [rooflineWords(analysis, peaks)]),
    staticAnalysisTable(analysis),
  ];
}

function rooflineWords(analysis: StaticAnalysis, peaks: DevicePeaks): string {
  const bound = passBoundMs(analysis);
  if (bound === null)
    return "There is no roofline: the peak arithmetic or memory rate of this device is not known.";
  const { gflops_per_second: flops, gbytes_per_second: bytes } = peaks;
  return `The bound is the shortest possible time of a layer with ${(flops ?? 0).toFixed(1)} GFLOP/s and ${(bytes ?? 0).toFixed(1)} GB/s of memory (${escapeMarkdown(peaks.source)}); layers whose data stay in a cache can be faster than a memory bound. ${[passWords(analysis.passMs, bound), escapeMarkdown(peakContradiction(analysis) ?? "")].join(" ").trim()}`;
}

const passWords = (passMs: number | null, bound: number): string =>
  passMs === null
    ? `The bound of a pass is ${formatDuration(bound)}.`
    : `A pass took ${formatDuration(passMs)} (median); its bound is ${formatDuration(bound)}.`;

/** The layers with their arithmetic intensity, which places them on a roofline. */
function staticAnalysisTable({ layers, peaks, ...rest }: StaticAnalysis): string {
  const flops = layers.reduce((sum, layer) => sum + layer.flops, 0);
  const bytes = layers.reduce((sum, layer) => sum + layer.bytes, 0);
  const total = passBoundMs({ layers, peaks, ...rest });
  const row = (
    names: readonly string[],
    work: Pick<LayerWork, "flops" | "bytes">,
    bound: readonly string[],
  ) => [
    ...names.map(escapeMarkdown),
    (work.flops / 1e6).toFixed(3),
    (work.bytes / 1e6).toFixed(3),
    work.bytes === 0 ? "–" : (work.flops / work.bytes).toFixed(2),
    ...(total === null ? [] : bound),
  ];
  const layerRow = (layer: LayerWork) => {
    const bound = rooflineBound(layer, peaks);
    return row([layer.name, layer.operation, layer.range], layer, [
      bound === null ? "–" : formatDuration(bound.ms),
      bound?.limit ?? "–",
    ]);
  };
  return markdownTable(
    [
      { heading: "Layer" },
      { heading: "Operation" },
      { heading: "Region" },
      { heading: "MFLOP", align: "right" },
      { heading: "MB", align: "right" },
      { heading: "FLOP/byte", align: "right" },
      ...(total === null
        ? []
        : [{ heading: "Bound", align: "right" } as const, { heading: "Limited by" }]),
    ],
    [
      ...layers.map(layerRow),
      row(["all", "", ""], { flops, bytes }, [formatDuration(total ?? 0), ""]),
    ],
  );
}

const fileList = (files: readonly string[]): string | null =>
  files.length === 0
    ? null
    : markdownList(files.map((file) => markdownLink(escapeMarkdown(file), file)));

const heading = (text: string, block: string | null): readonly string[] =>
  block === null ? [] : [text, block];

/** `kernels.md`: all kernels of the run, longest first, with the region that has most of each. */
export function renderKernelsMarkdown(run: RunSummary): string {
  checkRun("renderKernelsMarkdown", run);
  const { sections, kernelLimit = 200 } = run;
  return markdownDocument([
    "# Kernels",
    sections.length === 0 ? "No collector ran." : null,
    ...sections.flatMap((section) => kernelBlocks(section, kernelLimit)),
  ]);
}

function kernelBlocks(section: RunSection, limit: number): readonly (string | null)[] {
  const report = mainReport(section);
  const heading = `## ${escapeMarkdown(section.collector)}`;
  const kernels = report === undefined ? null : kernelsOfReport(report);
  const words = wordsOfKinds(kernels?.kinds ?? []);
  if (report === undefined || kernels === null || words === null)
    return [heading, "Neither GPU kernels nor CPU operations were recorded."];
  const several = kernels.devices.length > 1;
  const shown = kernels.longest(limit);
  // In the order of the whole list: sums of fractions depend on it.
  const listed = Float64Array.from(kernels.times)
    .sort()
    .reduceRight((sum, ms) => sum + ms, 0);
  const whole = wholeMs(report);
  const total = whole ?? 0;
  const { table, hardware } = kernelRows(shown, {
    words,
    wholeMs: total,
    columns: [
      { heading: "Mostly in", cell: ({ mostlyIn }) => escapeMarkdown(mostlyIn) },
      ...(several ? [{ heading: "Device", cell: ({ device }: KernelRecord) => device }] : []),
    ],
  });
  return [
    heading,
    `${plural(report.totals.kernel_count, words.one, words.many)}, ${whole === null ? "not timed" : `${formatMs(whole)} ms`}.`,
    table,
    hardwareLegend(hardware),
    shown.length < kernels.length
      ? `${plural(kernels.length - shown.length, "more row")} in \`report.json\`.`
      : null,
    Math.abs(listed - total) > total * 1e-6
      ? `The rows add up to ${formatMs(listed)} of ${formatMs(total)} ms: the rest is in regions that are not shown, or in ranges that overlap without nesting.`
      : null,
  ];
}
