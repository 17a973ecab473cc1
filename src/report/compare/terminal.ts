/** A comparison for a terminal: aligned columns, the differences that matter in colour. */
import picocolors from "picocolors";
import { printableLabel } from "../../printable.ts";
import { fitText, padText, textWidth } from "../../text-width.ts";
import { formatMs, plural } from "../numbers.ts";
import type { Change, Verdict } from "./change.ts";
import {
  type Comparison,
  countNotes,
  formatDelta,
  formatPercent,
  gateSummary,
  kernelHeading,
  mainTime,
  regionLines,
  TIME_LABELS,
  VERDICTS,
} from "./comparison.ts";

export interface TerminalOptions {
  readonly width: number;
  readonly color: boolean;
  /** Kernels listed; those that changed most. */
  readonly kernels: number;
}

const HEADINGS = ["A ms", "B ms", "Change ms", "%", ""] as const;

export function renderComparison(
  comparison: Comparison,
  { width, color, kernels }: TerminalOptions,
): string {
  const colors = picocolors.createColors(color);
  const { names, reports, config, gates } = comparison;
  const time = mainTime(reports);
  const paint: Readonly<Record<Verdict, (text: string) => string>> = {
    more: colors.red,
    less: colors.green,
    same: colors.dim,
    unclear: colors.yellow,
    added: colors.cyan,
    removed: colors.cyan,
  };

  const regions = regionLines(reports.regions).map(({ region, level, label }) => ({
    label: `${"  ".repeat(level)}${label}`,
    change: region.changes[time],
    counts: countNotes(region.changes),
  }));
  const total = { label: "all", change: reports.totals[time], counts: "" };
  const changed = reports.kernels.filter(({ changes }) => {
    const verdict = changes["total_ms"]?.verdict;
    return verdict !== undefined && verdict !== "same";
  });
  const kernelLines = changed.slice(0, kernels).map(({ kernel_name, changes }) => ({
    label: printableLabel(kernel_name),
    change: changes["total_ms"],
    counts: countNotes(changes),
  }));

  const table = (heading: string, lines: readonly Line[]) =>
    drawTable(heading, lines, width).map(({ text, verdict }) =>
      verdict === null ? colors.bold(text) : paint[verdict](text),
    );
  const left = changed.length - kernelLines.length;
  const blocks: readonly (readonly string[])[] = [
    [`A ${printableLabel(names.a, 300)}`, `B ${printableLabel(names.b, 300)}`],
    reports.notes.map((note) => colors.yellow(`note: ${printableLabel(note, 300)}`)),
    [
      ...table("Region", [...regions, total]),
      colors.dim(`${TIME_LABELS[time]}; ± is the 95 % interval, where calls tell it`),
    ],
    kernelLines.length === 0 ? [] : table(kernelHeading(reports), kernelLines),
    left > 0 ? [colors.dim(`${plural(left, "more kernel")} changed, see --json`)] : [],
    configLines(config),
    gates.length === 0
      ? []
      : [
          ...gates.map(({ outcome, reason }) =>
            GATE_PAINT[outcome](colors)(`${outcome}: ${printableLabel(reason, 300)}`),
          ),
          printableLabel(gateSummary(gates), 400),
        ],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line}\n`).join(""))
    .join("\n");
}

type Colors = ReturnType<typeof picocolors.createColors>;

const GATE_PAINT = {
  passed: (colors: Colors) => colors.green,
  breached: (colors: Colors) => colors.red,
  unclear: (colors: Colors) => colors.yellow,
} as const;

interface Line {
  readonly label: string;
  readonly change: Change | undefined;
  readonly counts: string;
}

function drawTable(
  heading: string,
  lines: readonly Line[],
  width: number,
): readonly { readonly text: string; readonly verdict: Verdict | null }[] {
  const rows = lines.map(({ label, change, counts }) => ({
    label,
    verdict: change?.verdict ?? "same",
    cells:
      change === undefined
        ? ["", "", "", "", counts]
        : [
            formatMs(change.a),
            formatMs(change.b),
            formatDelta(change),
            formatPercent(change.relative),
            [VERDICTS[change.verdict], counts].filter((text) => text !== "").join(", "),
          ],
  }));
  const widths = HEADINGS.map((title, column) =>
    Math.max(textWidth(title), ...rows.map(({ cells }) => textWidth(cells[column] ?? ""))),
  );
  const numbers = widths.reduce((sum, each) => sum + each + 2, 0);
  const widest = Math.max(textWidth(heading), ...rows.map(({ label }) => textWidth(label)));
  const first = Math.max(12, Math.min(widest, width - numbers));
  const line = (label: string, cells: readonly string[]) =>
    [
      padText(fitText(label, first), first, "left"),
      ...cells.map((cell, column) =>
        padText(cell, widths[column] ?? 0, column === HEADINGS.length - 1 ? "left" : "right"),
      ),
    ]
      .join("  ")
      .trimEnd();
  return [
    { text: line(heading, HEADINGS), verdict: null },
    ...rows.map(({ label, verdict, cells }) => ({ text: line(label, cells), verdict })),
  ];
}

const MAX_CONFIG = 30;

function configLines(config: Comparison["config"]): readonly string[] {
  if (config === null) return [];
  if (config.length === 0) return ["configurations are the same"];
  const shown = config.slice(0, MAX_CONFIG).map(({ key, a, b }) => {
    const side = (value: string | null) => (value === null ? "(none)" : printableLabel(value));
    return `  ${printableLabel(key)}: ${side(a)} -> ${side(b)}`;
  });
  const left = config.length - shown.length;
  return ["configuration:", ...shown, ...(left > 0 ? [`  and ${left} more`] : [])];
}
