/** A comparison to paste into a pull request. */
import { plural } from "../../text/plural.ts";
import {
  escapeMarkdown,
  markdownIndent,
  markdownLabel,
  markdownList,
  markdownListPieces,
  markdownPieces,
  markdownTable,
  markdownTablePieces,
} from "../render/markdown.ts";
import { formatMs } from "../view/numbers.ts";
import { type Change, formatDelta, formatPercent } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
  changedKernels,
  gateSummary,
  kernelHeading,
  kernelWord,
  mainTime,
  regionLines,
  TIME_LABELS,
  VERDICTS,
} from "./comparison.ts";
import {
  ACTIVITY_HEADING,
  activityFacts,
  COUNTERS_HEADING,
  counterFacts,
  type GpuFacts,
} from "./gpu-facts.ts";

const MAX_KERNELS = 20;

/** In pieces, one per region or gate: for two large reports it can be longer than a string may be. */
export function comparisonMarkdownPieces({
  names,
  reports,
  config,
  gates,
}: Comparison): Iterable<string> {
  const time = mainTime(reports);
  const changed = changedKernels(reports);
  const columns = (first: string) => [
    { heading: first },
    { heading: "A ms", align: "right" as const },
    { heading: "B ms", align: "right" as const },
    { heading: "Change ms", align: "right" as const },
    { heading: "%", align: "right" as const },
    { heading: "" },
  ];
  return markdownPieces([
    "# Comparison",
    `A is ${markdownLabel(names.a)}, B is ${markdownLabel(names.b)}.`,
    gates.length === 0 ? null : `**${escapeMarkdown(gateSummary(gates))}**`,
    gates.length === 0 ? null : markdownListPieces(gateLines(gates)),
    reports.notes.length === 0 ? null : markdownList(reports.notes.map(escapeMarkdown)),
    "## Regions",
    ...(reports.regions.length === 0
      ? ["No regions."]
      : [
          markdownTablePieces(columns("Region"), regionRows(reports, time)),
          `Numbers are ${TIME_LABELS[time]}; ± is the 95 % interval, where calls or repeated runs tell it.`,
        ]),
    changed.length === 0 ? null : `## ${kernelHeading(reports)}s that changed`,
    changed.length === 0
      ? null
      : markdownTable(
          columns(kernelHeading(reports)),
          changed
            .slice(0, MAX_KERNELS)
            .map(({ kernel_name, changes }) =>
              row(markdownLabel(kernel_name), changes["total_ms"]),
            ),
        ),
    changed.length > MAX_KERNELS
      ? `${plural(changed.length - MAX_KERNELS, `more ${kernelWord(reports)}`)} changed.`
      : null,
    ...factBlocks(ACTIVITY_HEADING, "Region", activityFacts(reports)),
    ...factBlocks(COUNTERS_HEADING, kernelHeading(reports), counterFacts(reports)),
    ...configBlocks(config),
  ]);
}

function* gateLines(gates: Comparison["gates"]): Generator<string> {
  for (const { outcome, reason } of gates) yield `${outcome}: ${escapeMarkdown(reason)}`;
}

function* regionRows(
  { regions, totals }: ReportComparison,
  time: ReturnType<typeof mainTime>,
): Generator<readonly string[]> {
  for (const { region, level, label } of regionLines(regions))
    yield row(`${markdownIndent(level)}${escapeMarkdown(label)}`, region.changes[time]);
  yield row("all", totals[time]);
}

function factBlocks(heading: string, first: string, all: readonly GpuFacts[]): readonly string[] {
  if (all.length === 0) return [];
  const rows = all
    .slice(0, MAX_KERNELS)
    .flatMap(({ label, facts }) =>
      facts.map(({ name, a, b, change }, at) => [
        at === 0 ? markdownLabel(label) : "",
        name,
        a,
        b,
        change,
      ]),
    );
  const columns = [
    { heading: first },
    { heading: "" },
    { heading: "A", align: "right" as const },
    { heading: "B", align: "right" as const },
    { heading: "Change", align: "right" as const },
  ];
  const left = all.length - MAX_KERNELS;
  return [
    `## ${heading}`,
    markdownTable(columns, rows),
    ...(left > 0 ? [`${left} more changed.`] : []),
  ];
}

const row = (label: string, change: Change | undefined): readonly string[] =>
  change === undefined
    ? [label, "", "", "", "", ""]
    : [
        label,
        formatMs(change.a),
        formatMs(change.b),
        formatDelta(change),
        formatPercent(change.relative),
        VERDICTS[change.verdict],
      ];

function configBlocks(config: Comparison["config"]): readonly string[] {
  if (config === null) return [];
  if (config.length === 0) return ["The configurations are the same."];
  const side = (value: string | null) => (value === null ? "" : markdownLabel(value));
  return [
    "## Configuration",
    markdownTable(
      [{ heading: "Key" }, { heading: "A" }, { heading: "B" }],
      config.map(({ key, a, b }) => [markdownLabel(key), side(a), side(b)]),
    ),
  ];
}
