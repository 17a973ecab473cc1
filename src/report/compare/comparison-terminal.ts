/** A comparison for a terminal: aligned columns, relevant differences in colour. */

import picocolors from "picocolors";
import { printableLabel } from "../../foundation/text/printable.ts";
import { wrapText } from "../../foundation/text/text-width.ts";
import { plainText, type Tone } from "../../pages/blocks.ts";
import { PAINT, type TerminalPage, tableLines } from "../render/terminal.ts";
import { type Comparison, overallTimes } from "./comparison.ts";
import {
  type ComparisonDocument,
  type ComparisonSection,
  comparisonDocument,
} from "./comparison-document.ts";
import type { ConfigDifference, GateResult } from "./comparison-types.ts";

export interface TerminalOptions extends TerminalPage {
  /** The number of listed regions; if there are more, those that changed most are listed. */
  readonly regions: number;
  /** The number of listed kernels, those that changed most. */
  readonly kernels: number;
}

/** Lines end with newlines; parts are separated by a blank line. */
export function renderComparison(
  comparison: Comparison,
  { width, color, regions, kernels }: TerminalOptions,
): string {
  const page: Page = { width, color, colors: picocolors.createColors(color) };
  const { names, sentence, overall, gates, differences, notes, sections } = comparisonDocument(
    comparison,
    {
      ...{ layout: "terminal", regions, kernels, facts: { regions, kernels }, parts: MAX_PARTS },
      options: { regions: "--regions", kernels: "--kernels" },
    },
  );
  const isOneTime = overallTimes(comparison.reports).length < 2;
  const blocks: readonly (readonly string[])[] = [
    [`A ${plainText([names.a])}`, `B ${plainText([names.b])}`],
    [
      ...wrapped(page, sentence, page.colors.bold),
      ...(overall === null || isOneTime ? [] : tableLines(overall, page)),
    ],
    differenceLines(differences).flatMap((line) => wrapped(page, line)),
    notes.flatMap((note) =>
      wrapped(page, `note: ${printableLabel(note, MAX_NOTE)}`, page.colors.yellow),
    ),
    ...sections.flatMap((section) => sectionBlocks(page, section)),
    // The last lines are read first.
    gates === null ? [] : gateBlock(page, gates),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line}\n`).join(""))
    .join("\n");
}

const MAX_PARTS = 8;
/** In characters: the notes of our own fit. */
const MAX_NOTE = 1000;

interface Page extends TerminalPage {
  readonly colors: ReturnType<typeof picocolors.createColors>;
}

function wrapped({ width }: Page, text: string, color = (line: string) => line): readonly string[] {
  return wrapText(text, width).map(color);
}

/** The headings of tables say what they are; the notes say what was not measured. */
function sectionBlocks(
  page: Page,
  { table, legend, left }: ComparisonSection,
): readonly (readonly string[])[] {
  const leftLines = left === null ? [] : wrapped(page, left, page.colors.dim);
  if (table === null) return [leftLines];
  const legendLines = legend === null ? [] : wrapped(page, legend, page.colors.dim);
  return [[...tableLines(table, page), ...leftLines, ...legendLines]];
}

function gateBlock(
  page: Page,
  { summary, results }: NonNullable<ComparisonDocument["gates"]>,
): readonly string[] {
  // Breaches are also printed on standard error.
  const isBreached = results.some(({ outcome }) => outcome === "breached");
  return [
    ...results.flatMap(({ outcome, reason }) =>
      wrapped(
        page,
        `${outcome}: ${printableLabel(reason, 300)}`,
        PAINT[GATE_TONES[outcome]](page.colors),
      ),
    ),
    ...(isBreached ? [] : wrapped(page, printableLabel(summary, 400))),
  ];
}

const GATE_TONES: Readonly<Record<GateResult["outcome"], Tone>> = {
  passed: "better",
  breached: "worse",
  unclear: "doubtful",
  unchecked: "doubtful",
};

const MAX_CONFIG = 30;

/** Differences of machines and versions, then of the configuration. */
function differenceLines({
  machines,
  config,
}: ComparisonDocument["differences"]): readonly string[] {
  const lines = (all: readonly ConfigDifference[]) =>
    all.map(({ key, a, b }) => {
      const side = (value: string | null) => (value === null ? "(none)" : printableLabel(value));
      return `  ${printableLabel(key)}: ${side(a)} -> ${side(b)}`;
    });
  const left = (config?.length ?? 0) - MAX_CONFIG;
  return [
    ...(machines.length === 0 ? [] : ["not the same:", ...lines(machines)]),
    ...(config === null
      ? []
      : config.length === 0
        ? ["configurations are the same"]
        : ["configuration:", ...lines(config.slice(0, MAX_CONFIG))]),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ];
}
