/** A comparison in Markdown, for example to paste into a pull request. */
import { printableLabel } from "../../foundation/text/printable.ts";
import {
  type Block,
  heading,
  list,
  listIfAny,
  paragraph,
  strong,
  type Text,
} from "../../pages/blocks.ts";
import { markdownPieces } from "../../pages/markdown.ts";
import type { Comparison } from "./comparison.ts";
import {
  type ComparisonDocument,
  type ComparisonSection,
  comparisonDocument,
} from "./comparison-document.ts";
import { configTable } from "./comparison-tables.ts";

const MAX_KERNELS = 20;
const MAX_PARTS = 10;

/** The document in pieces, one per region or gate: for two large reports it can be longer than the longest string. */
export const comparisonMarkdownPieces = (comparison: Comparison): Iterable<string> =>
  markdownPieces(blocksOf(comparison));

function blocksOf(comparison: Comparison): readonly Block[] {
  const { names, sentence, overall, gates, differences, notes, sections } = comparisonDocument(
    comparison,
    {
      layout: "markdown",
      kernels: MAX_KERNELS,
      facts: { regions: MAX_KERNELS, kernels: MAX_KERNELS },
      parts: MAX_PARTS,
    },
  );
  return [
    heading(1, "Comparison"),
    paragraph([strong(sentence)]),
    paragraph(["A is ", names.a, ", B is ", names.b, "."]),
    ...(overall === null ? [] : [overall]),
    ...(gates === null ? [] : [paragraph([strong(gates.summary)]), list(gateLines(gates.results))]),
    ...differenceBlocks(differences),
    ...listIfAny(notes),
    ...sections.flatMap(sectionBlocks),
  ];
}

function sectionBlocks({ title, table, legend, left, empty }: ComparisonSection): readonly Block[] {
  if (table === null) return empty === null ? [] : [heading(2, title), paragraph(empty)];
  return [
    heading(2, title),
    table,
    ...(legend === null ? [] : [paragraph(legend)]),
    ...(left === null ? [] : [paragraph(left)]),
  ];
}

function* gateLines(gates: Comparison["gates"]): Generator<Text> {
  for (const { outcome, reason } of gates) yield [`${outcome}: `, reason];
}

function differenceBlocks({
  machines,
  config,
}: ComparisonDocument["differences"]): readonly Block[] {
  const all = [...machines, ...(config ?? [])];
  if (all.length === 0)
    return config === null ? [] : [paragraph("The configurations are the same.")];
  return [
    heading(2, machines.length === 0 ? "Configuration" : "What differs"),
    configTable(all, (value) => (value === null ? "" : printableLabel(value))),
    ...(config?.length === 0 ? [paragraph("The configurations are the same.")] : []),
  ];
}
