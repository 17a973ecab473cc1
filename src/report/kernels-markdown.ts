import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "./document.ts";
import { kernelWords } from "./kernel-words.ts";
import { escapeMarkdown, markdownDocument, markdownLabel, markdownTable } from "./markdown.ts";
import { formatMs, formatShare, plural } from "./numbers.ts";
import { mainReport, type RunSection, type RunSummary } from "./run-summary.ts";
import { treeRows } from "./tree-rows.ts";

/** `kernels.md`: all kernels of the run, longest first, with the region that has most of each. */
export function renderKernelsMarkdown({ sections, kernelLimit = 200 }: RunSummary): string {
  return markdownDocument([
    "# Kernels",
    sections.length === 0 ? "No collector ran." : null,
    ...sections.flatMap((section) => sectionBlocks(section, kernelLimit)),
  ]);
}

function sectionBlocks(section: RunSection, limit: number): readonly (string | null)[] {
  const report = mainReport(section);
  const heading = `## ${escapeMarkdown(section.collector)}`;
  const rows = report === undefined ? [] : kernelsOfRun(report);
  const words = kernelWords(rows);
  if (report === undefined || words === null)
    return [heading, "Neither GPU kernels nor CPU operations were recorded."];
  const several = new Set(rows.map(({ device }) => device)).size > 1;
  const shown = rows.slice(0, limit);
  const listed = rows.reduce((sum, { total_ms }) => sum + total_ms, 0);
  const total = report.totals.total_ms ?? 0;
  return [
    heading,
    `${plural(report.totals.kernel_count, words.one, words.many)}, ${formatMs(total)} ms.`,
    markdownTable(
      [
        { heading: words.one[0]?.toUpperCase() + words.one.slice(1) },
        { heading: "Calls", align: "right" },
        { heading: "Total ms", align: "right" },
        { heading: "Mean ms", align: "right" },
        { heading: "Share %", align: "right" },
        { heading: "Mostly in" },
        ...(several ? [{ heading: "Device" }] : []),
      ],
      shown.map((row) => [
        markdownLabel(row.kernel_name),
        String(row.calls),
        formatMs(row.total_ms),
        formatMs(row.total_ms / row.calls),
        formatShare(row.total_ms, total),
        escapeMarkdown(row.mostlyIn),
        ...(several ? [row.device] : []),
      ]),
    ),
    shown.length < rows.length
      ? `${plural(rows.length - shown.length, "more row")} in \`report.json\`.`
      : null,
    Math.abs(listed - total) > total * 1e-6
      ? `The rows add up to ${formatMs(listed)} of ${formatMs(total)} ms: some time is in regions that are not shown, or in ranges that overlap without nesting.`
      : null,
  ];
}

interface KernelOfRun extends KernelRecord {
  readonly mostlyIn: string;
}

/** Kernels of the outermost regions shown, merged: each is in one of them when ranges nest. */
function kernelsOfRun(report: NCUProfileRegionReport): readonly KernelOfRun[] {
  const merged = new Map<string, { record: KernelRecord; calls: number; total_ms: number }>();
  for (const { region, level } of treeRows(report.regions))
    if (level === 0)
      for (const record of region.kernels) {
        const row = merged.get(keyOf(record)) ?? { record, calls: 0, total_ms: 0 };
        merged.set(keyOf(record), row);
        row.calls += record.calls;
        row.total_ms += record.total_ms;
      }
  const homes = homesOf(report.regions);
  return [...merged]
    .map(([key, { record, calls, total_ms }]) => ({
      ...record,
      calls,
      total_ms,
      mean_ms: total_ms / calls,
      mostlyIn: homes.get(key) ?? "",
    }))
    .sort((a, b) => b.total_ms - a.total_ms);
}

/** Per kernel the region with most of its time, the innermost of equals. */
function homesOf(regions: readonly NCUProfileRegion[]): ReadonlyMap<string, string> {
  const best = new Map<string, { region: NCUProfileRegion; ms: number }>();
  for (const region of regions)
    for (const record of region.kernels) {
      const known = best.get(keyOf(record));
      if (
        known === undefined ||
        record.total_ms > known.ms ||
        (record.total_ms === known.ms && region.depth > known.region.depth)
      )
        best.set(keyOf(record), { region, ms: record.total_ms });
    }
  return new Map([...best].map(([key, { region }]) => [key, treeRows([region])[0]?.label ?? ""]));
}

const keyOf = ({ kernel_name, kind, device }: KernelRecord): string =>
  JSON.stringify([kernel_name, kind, device]);
