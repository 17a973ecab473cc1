/** A comparison to paste into a pull request. */
import { plural } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { markdownPieces } from "../render/markdown.ts";
import {
  type Block,
  heading,
  list,
  listIfAny,
  paragraph,
  strong,
  type Text,
} from "../view/blocks.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
  changedKernels,
  gateSummary,
  kernelHeading,
  kernelWord,
  mainTime,
  TIME_LABELS,
} from "./comparison.ts";
import {
  changeTable,
  configTable,
  factTable,
  kernelRows,
  regionRows,
  totalRow,
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

/** In pieces, one per region or gate: for two large reports it can be longer than a string may be. */
export const comparisonMarkdownPieces = (comparison: Comparison): Iterable<string> =>
  markdownPieces(blocksOf(comparison));

function blocksOf({ names, reports, config, gates }: Comparison): readonly Block[] {
  const changed = changedKernels(reports);
  const left = changed.length - MAX_KERNELS;
  const kernel = kernelHeading(reports);
  return [
    heading(1, "Comparison"),
    paragraph(["A is ", printableLabel(names.a), ", B is ", printableLabel(names.b), "."]),
    ...(gates.length === 0
      ? []
      : [paragraph([strong(gateSummary(gates))]), list(gateLines(gates))]),
    ...listIfAny(reports.notes),
    heading(2, "Regions"),
    ...(reports.regions.length === 0
      ? [paragraph("No regions.")]
      : [
          changeTable("Region", allRows(reports), "markdown"),
          paragraph(
            `Numbers are ${TIME_LABELS[mainTime(reports)]}; ± is the 95 % interval, where calls or repeated runs tell it.`,
          ),
        ]),
    ...(changed.length === 0
      ? []
      : [
          heading(2, `${kernel}s that changed`),
          changeTable(kernel, kernelRows(changed.slice(0, MAX_KERNELS), reports), "markdown"),
        ]),
    ...(left > 0 ? [paragraph(`${plural(left, `more ${kernelWord(reports)}`)} changed.`)] : []),
    ...factBlocks(RANKS_HEADING, "Region", rankFacts(reports)),
    ...factBlocks(ACTIVITY_HEADING, "Region", activityFacts(reports)),
    ...factBlocks(COUNTERS_HEADING, kernel, counterFacts(reports)),
    ...configBlocks(config),
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

function configBlocks(config: Comparison["config"]): readonly Block[] {
  if (config === null) return [];
  if (config.length === 0) return [paragraph("The configurations are the same.")];
  return [
    heading(2, "Configuration"),
    configTable(config, (value) => (value === null ? "" : printableLabel(value))),
  ];
}
