/** The reports of a whole run as blocks: the results of each collector, and all kernels. */

import { firstFewOf, plural } from "../../foundation/text/plural.ts";
import {
  type Block,
  code,
  type Field,
  heading,
  link,
  listIfAny,
  numeral,
  paragraph,
  type Span,
  type Table,
  tableOf,
  withHeading,
} from "../../pages/blocks.ts";
import { formatDuration, formatMs, NOT_MEASURED } from "../../pages/numbers.ts";
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { regionKey } from "../model/report-files.ts";
import { answerBlocks, answerOf } from "./answer.ts";
import { kernelsOfReport } from "./kernel-list.ts";
import { hardwareLegend, kernelTable } from "./kernel-tables.ts";
import {
  type DevicePeaks,
  type LayerWork,
  passBoundMs,
  peakContradiction,
  rooflineBound,
  type StaticAnalysis,
} from "./layer-work.ts";
import { medianRunWords } from "./notes.ts";
import { linkInto } from "./region-report.ts";
import { provenanceTable, regionTree } from "./report-tables.ts";
import { answeringSection, mainReport, type RunSection, type RunSummary } from "./run-summary.ts";
import { wholeMs, wordsOfKinds } from "./times.ts";
import { regionLabels } from "./tree-rows.ts";

/** `report.md` of a run: the results of each collector, and links to everything else. */
export function runReport(run: RunSummary): readonly Block[] {
  const first = run.sections.map(mainReport).find((report) => report !== undefined);
  const { staticAnalysis, files = [] } = run;
  return [
    heading(1, "Profile"),
    paragraph([
      link("Summary in plain language", "stakeholder_summary.md"),
      " · ",
      link("Kernels", "kernels.md"),
    ]),
    ...runAnswer(run),
    ...withHeading("Notes on the run", listIfAny(run.notes)),
    ...(run.sections.length === 0 ? [paragraph("No collector ran.")] : []),
    ...run.sections.flatMap(sectionBlocks),
    ...withHeading(
      "Static analysis",
      staticAnalysis === undefined ? [] : staticAnalysisBlocks(staticAnalysis),
    ),
    ...withHeading("Files", listIfAny(files.map((file) => [link(file, file)]))),
    ...withHeading("Provenance", first === undefined ? [] : [provenanceTable(first)]),
  ];
}

/** The answer of the collector that recorded most about time; the others contribute reasons. */
function runAnswer({ sections }: RunSummary): readonly Block[] {
  const section = answeringSection(sections);
  if (section === undefined) return [];
  const beside = sections.flatMap((other) => (other === section ? [] : [other.bundle]));
  const answer = answerOf(section.bundle, beside);
  const nameOf = linkInto(section.regionDirectories, `${section.directory}/regions/`);
  return answer === null ? [] : answerBlocks(answer, { nameOf, level: 2 });
}

function sectionBlocks(section: RunSection): readonly Block[] {
  const report = mainReport(section);
  const base = `${section.directory}/regions`;
  return [
    heading(2, section.collector),
    fullReport(section, base),
    ...(report === undefined
      ? []
      : [
          ...regionTree(report),
          scopesLine(section),
          ...listIfAny(report.notes),
          ...regionLinks(report, section, base),
        ]),
  ];
}

function fullReport({ html }: RunSection, base: string): Block {
  const page: readonly Span[] = html === true ? [link("page", `${base}/report.html`), ", "] : [];
  const markdown = link("Markdown", `${base}/report.md`);
  const json = link("JSON", `${base}/report.json`);
  return paragraph(["Full report: ", ...page, markdown, ", ", json, "."]);
}

/** A run of many processes has one scope per process. */
const MAX_SCOPES = 64;

const scopesLine = ({ bundle: { reports } }: RunSection): Block =>
  paragraph(`Scopes in the full report: ${firstFewOf(reports, MAX_SCOPES, ({ scope }) => scope)}.`);

function regionLinks(
  report: NCUProfileRegionReport,
  { regionDirectories }: RunSection,
  base: string,
): readonly Table[] {
  const labelOf = regionLabels(report.regions);
  const nameOf = (region: NCUProfileRegion) => regionDirectories.get(regionKey(region)) ?? "";
  const regions = report.regions.filter((region) => nameOf(region) !== "");
  const fields: readonly Field<NCUProfileRegion>[] = [
    { title: "Region", cell: labelOf },
    {
      title: "Its own report",
      cell: (region) => [link(nameOf(region), `${base}/${nameOf(region)}/report.md`)],
    },
  ];
  return regions.length === 0 ? [] : [tableOf(fields, regions)];
}

/** The numbers in words, then the table of layers. */
function staticAnalysisBlocks(analysis: StaticAnalysis): readonly Block[] {
  const { parameters, peaks } = analysis;
  return [
    paragraph(
      `The model has ${plural(parameters.count, "parameter")} (${(parameters.bytes / 1e6).toFixed(3)} MB in float32). Work of one forward pass, computed from the layer shapes, not measured; bytes assume that nothing stays in a cache.`,
    ),
    ...(peaks === null ? [] : [paragraph(rooflineWords(analysis, peaks))]),
    staticAnalysisTable(analysis),
  ];
}

function rooflineWords(analysis: StaticAnalysis, peaks: DevicePeaks): string {
  const bound = passBoundMs(analysis);
  if (bound === null)
    return "There is no roofline: the peak arithmetic or memory rate of this device is not known.";
  const { gflops_per_second: flops, gbytes_per_second: bytes } = peaks;
  return `The bound is the shortest possible time of a layer with ${(flops ?? 0).toFixed(1)} GFLOP/s and ${(bytes ?? 0).toFixed(1)} GB/s of memory (${peaks.source}); layers whose data stay in a cache can be faster than a memory bound. ${[passWords(analysis.passMs, bound), peakContradiction(analysis) ?? ""].join(" ").trim()}`;
}

const passWords = (passMs: number | null, bound: number): string =>
  passMs === null
    ? `The bound of a pass is ${formatDuration(bound)}.`
    : `A pass took ${formatDuration(passMs)} (median); its bound is ${formatDuration(bound)}.`;

interface LayerRow extends Pick<LayerWork, "flops" | "bytes"> {
  /** The names of the layer, its operation and its range. */
  readonly names: readonly [string, string, string];
  readonly bound: string;
  readonly limit: string;
}

const workField = (title: string, textOf: (row: LayerRow) => string): Field<LayerRow> => ({
  title,
  align: "right",
  cell: textOf,
});

/** The layers with their arithmetic intensity, which determines their place on a roofline. */
function staticAnalysisTable(analysis: StaticAnalysis): Table {
  const { layers, peaks } = analysis;
  const total = passBoundMs(analysis);
  const sum = (measure: (layer: LayerWork) => number) =>
    layers.reduce((whole, layer) => whole + measure(layer), 0);
  const rows = layers.map((layer): LayerRow => {
    const bound = rooflineBound(layer, peaks);
    return {
      ...layer,
      names: [layer.name, layer.operation, layer.range],
      bound: bound === null ? NOT_MEASURED : formatDuration(bound.ms),
      limit: bound?.limit ?? NOT_MEASURED,
    };
  });
  const all: LayerRow = {
    names: ["all", "", ""],
    flops: sum(({ flops }) => flops),
    bytes: sum(({ bytes }) => bytes),
    bound: formatDuration(total ?? 0),
    limit: "",
  };
  return tableOf(
    [
      { title: "Layer", cell: ({ names }) => names[0] },
      { title: "Operation", cell: ({ names }) => names[1] },
      { title: "Region", cell: ({ names }) => names[2] },
      workField("MFLOP", ({ flops }) => (flops / 1e6).toFixed(3)),
      workField("MB", ({ bytes }) => (bytes / 1e6).toFixed(3)),
      workField("FLOP/byte", ({ flops, bytes }) =>
        bytes === 0 ? NOT_MEASURED : (flops / bytes).toFixed(2),
      ),
      ...(total === null
        ? []
        : [
            workField("Bound", ({ bound }) => bound),
            { title: "Limited by", cell: ({ limit }: LayerRow) => limit },
          ]),
    ],
    [...rows, all],
  );
}

/** `kernels.md`: all kernels of the run, longest first, each with the region that has most of its time. */
export function kernelsReport({ sections, kernelLimit = 200 }: RunSummary): readonly Block[] {
  return [
    heading(1, "Kernels"),
    ...(sections.length === 0 ? [paragraph("No collector ran.")] : []),
    ...sections.flatMap((section) => kernelBlocks(section, kernelLimit)),
  ];
}

function kernelBlocks(section: RunSection, limit: number): readonly Block[] {
  const report = mainReport(section);
  const title = heading(2, section.collector);
  const kernels = report === undefined ? null : kernelsOfReport(report);
  const words = wordsOfKinds(kernels?.kinds ?? []);
  if (report === undefined || kernels === null || words === null)
    return [title, paragraph("Neither GPU kernels nor CPU operations were recorded.")];
  const several = kernels.devices.length > 1;
  const shown = kernels.longest(limit);
  // Summed in the order of the whole list, because sums of fractions depend on the order.
  const listed = Float64Array.from(kernels.times)
    .sort()
    .reduceRight((sum, ms) => sum + ms, 0);
  const whole = wholeMs(report);
  const total = whole ?? 0;
  const left = kernels.length - shown.length;
  return [
    title,
    paragraph([
      `${plural(report.totals.kernel_count, words.singular, words.plural)}, `,
      numeral(
        `${whole === null ? "not timed" : `${formatMs(whole)} ms`}${medianRunWords(report.notes)}.`,
      ),
    ]),
    kernelTable(shown, {
      words,
      wholeMs: total,
      more: [
        { title: "Mostly in", cell: ({ mostlyIn }) => mostlyIn },
        ...(several ? [{ title: "Device", cell: ({ device }: KernelRecord) => device }] : []),
      ],
    }),
    ...hardwareLegend(shown).map(paragraph),
    ...(left > 0 ? [paragraph([`${plural(left, "more row")} in `, code("report.json"), "."])] : []),
    ...(Math.abs(listed - total) > total * 1e-6
      ? [
          paragraph([
            "The rows add up to ",
            numeral(`${formatMs(listed)} of ${formatMs(total)}`),
            " ms: the rest is in regions that are not shown, or in ranges that overlap without nesting.",
          ]),
        ]
      : []),
  ];
}
