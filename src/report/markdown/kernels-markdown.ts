import { plural } from "../../text/plural.ts";
import type { KernelRecord } from "../document.ts";
import { hardwareLegend } from "../kernels/kernel-columns.ts";
import { wordsOfKinds } from "../kernels/kernel-words.ts";
import { kernelsOfReport } from "../kernels/kernels-of-report.ts";
import { wholeMs } from "../measured-time.ts";
import { formatMs } from "../numbers.ts";
import { checkRun, mainReport, type RunSection, type RunSummary } from "../run-summary.ts";
import { kernelRows } from "./kernel-rows.ts";
import { escapeMarkdown, markdownDocument } from "./markdown.ts";

/** `kernels.md`: all kernels of the run, longest first, with the region that has most of each. */
export function renderKernelsMarkdown(run: RunSummary): string {
  checkRun("renderKernelsMarkdown", run);
  const { sections, kernelLimit = 200 } = run;
  return markdownDocument([
    "# Kernels",
    sections.length === 0 ? "No collector ran." : null,
    ...sections.flatMap((section) => sectionBlocks(section, kernelLimit)),
  ]);
}

function sectionBlocks(section: RunSection, limit: number): readonly (string | null)[] {
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
