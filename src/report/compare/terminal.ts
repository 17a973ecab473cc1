/** A comparison for a terminal: aligned columns, relevant differences in colour. */
import picocolors from "picocolors";
import { grouped, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { wrapText } from "../../foundation/text/text-width.ts";
import type { Tone } from "../../pages/blocks.ts";
import { PAINT, type TerminalPage, tableLines } from "../render/terminal.ts";
import type { Verdict } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
  type ConfigDifference,
  countNotes,
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
  VERDICTS,
} from "./comparison.ts";
import {
  changedKernelRows,
  changeTable,
  factTree,
  overallTable,
  regionRows,
  totalRow,
  waterfallTable,
} from "./comparison-tables.ts";
import type { GateResult } from "./gates.ts";
import {
  ACTIVITY_HEADING,
  activityFacts,
  COUNTERS_HEADING,
  counterFacts,
  type GpuFacts,
  RANKS_HEADING,
  rankFacts,
} from "./gpu-facts.ts";
import type { RegionChange } from "./region-change.ts";

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
  const { names, reports, gates } = comparison;
  const page: Page = { width, color, colors: picocolors.createColors(color) };
  const blocks: readonly (readonly string[])[] = [
    [`A ${printableLabel(names.a, 300)}`, `B ${printableLabel(names.b, 300)}`],
    [
      ...wrapped(page, overallSentence(reports), page.colors.bold),
      ...(overallTimes(reports).length < 2
        ? []
        : tableLines(overallTable(reports, "terminal"), page)),
    ],
    differenceLines(comparison).flatMap((line) => wrapped(page, line)),
    notesBeside(reports).flatMap((note) =>
      wrapped(page, `note: ${printableLabel(note, 300)}`, page.colors.yellow),
    ),
    ...waterfallTable(reports, MAX_PARTS).map((table) => tableLines(table, page)),
    regionBlock(page, reports, regions),
    ...kernelBlocks(page, reports, kernels),
    factBlock(page, RANKS_HEADING, rankFacts(reports), { option: "regions", most: regions }),
    factBlock(page, ACTIVITY_HEADING, activityFacts(reports), { option: "regions", most: regions }),
    factBlock(page, COUNTERS_HEADING, counterFacts(reports), { option: "kernels", most: kernels }),
    gateBlock(page, gates),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${line}\n`).join(""))
    .join("\n");
}

const MAX_PARTS = 8;

interface Page extends TerminalPage {
  readonly colors: ReturnType<typeof picocolors.createColors>;
}

function wrapped({ width }: Page, text: string, color = (line: string) => line): readonly string[] {
  return wrapText(text, width).map(color);
}

function regionBlock(page: Page, reports: ReportComparison, most: number): readonly string[] {
  // The notes already say that nothing was measured.
  if (reports.regions.length === 0) return [];
  const { shown, folded } = foldedRegions(reports, most);
  const rows = [...regionRows(reports, shown), totalRow(reports)];
  const legend = `${TIME_LABELS[mainTime(reports)]}; ${intervalLegend(reports)}`;
  const left = `regions not shown: ${foldedText(folded)}; --regions ${reports.regions.length} shows all`;
  return [
    ...tableLines(changeTable("Region", rows, "terminal"), page),
    ...(folded.length === 0 ? [] : wrapped(page, left)),
    ...wrapped(page, legend, page.colors.dim),
  ];
}

/** `19,000 same, 940 unclear`. */
const foldedText = (folded: readonly FoldedRegions[]): string =>
  folded
    .map(
      ({ verdict, count }) =>
        `${grouped(String(count))} ${verdict === null ? "without times" : VERDICTS[verdict]}`,
    )
    .join(", ");

function kernelBlocks(
  page: Page,
  reports: ReportComparison,
  most: number,
): readonly (readonly string[])[] {
  const changed = changedKernelRows(reports);
  const rows = changed.slice(0, most);
  const left = changed.length - rows.length;
  const more = `${plural(left, `more ${kernelWord(reports)}`)} changed: --kernels ${changed.length} shows all`;
  return [
    rows.length === 0
      ? []
      : [
          ...tableLines(changeTable(kernelHeading(reports), rows, "terminal"), page),
          ...wrapped(page, `${kernelWord(reports)}s ${JUDGED}`, page.colors.dim),
        ],
    left === 0 ? [] : wrapped(page, more, page.colors.dim),
  ];
}

interface MostShown {
  readonly option: "regions" | "kernels";
  readonly most: number;
}

function factBlock(
  page: Page,
  heading: string,
  all: readonly GpuFacts[],
  { option, most }: MostShown,
): readonly string[] {
  const shown = all.slice(0, most);
  if (shown.length === 0) return [];
  const left = all.length - most;
  const more = `${left} more changed: --${option} ${all.length} shows all`;
  return [
    ...tableLines(factTree(heading, shown), page),
    ...(left <= 0 ? [] : wrapped(page, more, page.colors.dim)),
  ];
}

function gateBlock(page: Page, gates: readonly GateResult[]): readonly string[] {
  if (gates.length === 0) return [];
  // Breaches are also printed on standard error.
  const isBreached = gates.some(({ outcome }) => outcome === "breached");
  return [
    ...gates.flatMap(({ outcome, reason }) =>
      wrapped(
        page,
        `${outcome}: ${printableLabel(reason, 300)}`,
        PAINT[GATE_TONES[outcome]](page.colors),
      ),
    ),
    ...(isBreached ? [] : wrapped(page, printableLabel(gateSummary(gates), 400))),
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
function differenceLines({ config, reports }: Comparison): readonly string[] {
  const lines = (all: readonly ConfigDifference[]) =>
    all.map(({ key, a, b }) => {
      const side = (value: string | null) => (value === null ? "(none)" : printableLabel(value));
      return `  ${printableLabel(key)}: ${side(a)} -> ${side(b)}`;
    });
  const others = reports.differences.map(({ what, a, b }) => ({
    key: what,
    a: a || null,
    b: b || null,
  }));
  const left = (config?.length ?? 0) - MAX_CONFIG;
  return [
    ...(others.length === 0 ? [] : ["not the same:", ...lines(others)]),
    ...(config === null
      ? []
      : config.length === 0
        ? ["configurations are the same"]
        : ["configuration:", ...lines(config.slice(0, MAX_CONFIG))]),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ];
}

// Selects the regions of a long comparison that are listed: those that changed.

interface ShownRegions {
  /** In the order of the comparison. */
  readonly shown: readonly RegionChange[];
  /** The number of all others by verdict. */
  readonly folded: readonly FoldedRegions[];
}

interface FoldedRegions {
  /** Null if neither report has a time for them. */
  readonly verdict: Verdict | null;
  readonly count: number;
}

/** The relevance of a verdict; regions of weight 0 are not listed. */
const WEIGHTS: Readonly<Record<Verdict, number>> = {
  more: 2,
  less: 2,
  added: 2,
  removed: 2,
  unclear: 1,
  same: 0,
  left_out: 0,
};

/** The order in which verdicts are counted. */
const ORDER: readonly (Verdict | null)[] = [
  "more",
  "less",
  "added",
  "removed",
  "unclear",
  "same",
  "left_out",
  null,
];

/**
 * All regions, if there are at most `most`. Otherwise up to `most` whose time or counts changed: certain changes before
 * unclear ones, large before small ones.
 */
function foldedRegions(reports: ReportComparison, most: number): ShownRegions {
  const { regions } = reports;
  if (regions.length <= most) return { shown: regions, folded: [] };
  const time = mainTime(reports);
  const verdictOf = ({ changes }: RegionChange): Verdict | null => changes[time]?.verdict ?? null;
  const changed = regions.flatMap((region, place) => {
    const verdict = verdictOf(region);
    const ofTime = verdict === null ? 0 : WEIGHTS[verdict];
    const weight = ofTime > 0 || countNotes(region.changes, reports) === "" ? ofTime : 1;
    const { a = null, b = null } = region.changes[time] ?? {};
    return weight === 0 ? [] : [{ place, weight, ms: Math.abs((b ?? 0) - (a ?? 0)) }];
  });
  const first = changed.sort((x, y) => y.weight - x.weight || y.ms - x.ms).slice(0, most);
  const kept = new Set(first.map(({ place }) => place));
  const left = regions.filter((_, place) => !kept.has(place)).map(verdictOf);
  const folded = ORDER.map((verdict) => ({
    verdict,
    count: left.filter((each) => each === verdict).length,
  }));
  return {
    shown: regions.filter((_, place) => kept.has(place)),
    folded: folded.filter(({ count }) => count > 0),
  };
}
