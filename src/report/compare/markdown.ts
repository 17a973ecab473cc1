/** A comparison in Markdown, for example to paste into a pull request. */
import { capitalized, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Block,
  heading,
  link,
  list,
  listIfAny,
  paragraph,
  type Span,
  strong,
  type Text,
  withHeading,
} from "../../pages/blocks.ts";
import { markdownPieces } from "../../pages/markdown.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  allDifferences,
  type Comparison,
  gateSummary,
  intervalLegend,
  JUDGED,
  kernelHeading,
  kernelWord,
  mainTime,
  notesBeside,
  overallSentence,
  overallTimes,
  TIME_LABELS,
} from "./comparison.ts";
import {
  changedKernelRows,
  changeTable,
  configTable,
  factTable,
  overallTable,
  regionRows,
  totalRow,
  waterfallTable,
} from "./comparison-tables.ts";
import {
  ACTIVITY_HEADING,
  activityFacts,
  COUNTERS_HEADING,
  counterFacts,
  type GpuFacts,
  RANKS_HEADING,
  rankFacts,
} from "./gpu-facts.ts";

const MAX_KERNELS = 20;
const MAX_PARTS = 10;

/** The document in pieces, one per region or gate: for two large reports it can be longer than the longest string. */
export const comparisonMarkdownPieces = (comparison: Comparison): Iterable<string> =>
  markdownPieces(blocksOf(comparison));

function blocksOf(comparison: Comparison): readonly Block[] {
  const { names, reports, gates, links = { a: null, b: null } } = comparison;
  const rows = changedKernelRows(reports);
  const left = rows.length - MAX_KERNELS;
  const kernel = kernelHeading(reports);
  const named = (side: "a" | "b"): Span => {
    const path = links[side];
    return path === null ? printableLabel(names[side]) : link(printableLabel(names[side]), path);
  };
  return [
    heading(1, "Comparison"),
    paragraph([strong(overallSentence(reports))]),
    paragraph(["A is ", named("a"), ", B is ", named("b"), "."]),
    ...(overallTimes(reports).length === 0 ? [] : [overallTable(reports, "markdown")]),
    ...(gates.length === 0
      ? []
      : [paragraph([strong(gateSummary(gates))]), list(gateLines(gates))]),
    ...differenceBlocks(comparison),
    ...listIfAny(notesBeside(reports)),
    ...withHeading("What contributed", waterfallTable(reports, MAX_PARTS)),
    heading(2, "Regions"),
    ...(reports.regions.length === 0
      ? [paragraph("No regions.")]
      : [
          changeTable("Region", allRows(reports), "markdown"),
          paragraph(`Numbers are ${TIME_LABELS[mainTime(reports)]}; ${intervalLegend(reports)}.`),
        ]),
    ...(rows.length === 0
      ? []
      : [
          heading(2, `${kernel}s that differ`),
          changeTable(kernel, rows.slice(0, MAX_KERNELS), "markdown", {
            withCounts: rows.slice(0, MAX_KERNELS).some(({ counts }) => counts !== ""),
          }),
          paragraph(`${capitalized(kernelWord(reports))}s ${JUDGED}.`),
        ]),
    ...(left > 0 ? [paragraph(`${plural(left, `more ${kernelWord(reports)}`)} changed.`)] : []),
    ...factBlocks(RANKS_HEADING, "Region", rankFacts(reports)),
    ...factBlocks(ACTIVITY_HEADING, "Region", activityFacts(reports)),
    ...factBlocks(COUNTERS_HEADING, kernel, counterFacts(reports)),
  ];
}

function* gateLines(gates: Comparison["gates"]): Generator<Text> {
  for (const { outcome, reason } of gates) yield [`${outcome}: `, reason];
}

function* allRows(reports: ReportComparison) {
  yield* regionRows(reports);
  yield totalRow(reports);
}

function factBlocks(title: string, name: string, all: readonly GpuFacts[]): readonly Block[] {
  if (all.length === 0) return [];
  const left = all.length - MAX_KERNELS;
  return [
    heading(2, title),
    factTable({ name, what: "", repeats: false }, all.slice(0, MAX_KERNELS)),
    ...(left > 0 ? [paragraph(`${left} more changed.`)] : []),
  ];
}

function differenceBlocks(comparison: Comparison): readonly Block[] {
  const { config, reports } = comparison;
  const all = allDifferences(comparison);
  if (all.length === 0)
    return config === null ? [] : [paragraph("The configurations are the same.")];
  return [
    heading(2, reports.differences.length === 0 ? "Configuration" : "What differs"),
    configTable(all, (value) => (value === null ? "" : printableLabel(value))),
    ...(config?.length === 0 ? [paragraph("The configurations are the same.")] : []),
  ];
}
