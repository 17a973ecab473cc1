/** What a comparison says, composed once: terminal, Markdown and page write the same parts in the same words. */

import { capitalized, grouped, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { link, type Span, type Table } from "../../pages/blocks.ts";
import { formatDelta, formatMs, formatPercent } from "../../pages/numbers.ts";
import { pairedInterval, shownHalf } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import {
  type Comparison,
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
  timeLabel,
  totalName,
  VERDICTS,
} from "./comparison.ts";
import {
  allKernelRows,
  changedKernelRows,
  changeTable,
  factTable,
  factTree,
  overallTable,
  regionRows,
  totalRow,
  waterfallTable,
} from "./comparison-tables.ts";
import type { ConfigDifference, GateResult, RegionChange, Verdict } from "./comparison-types.ts";
import {
  ACTIVITY_HEADING,
  activityFacts,
  COUNTERS_HEADING,
  counterFacts,
  type GpuFacts,
  RANKS_HEADING,
  rankFacts,
} from "./gpu-facts.ts";

export interface ComparisonDocument {
  /** The names of both reports, linked to their pages if these are known. */
  readonly names: { readonly a: Span; readonly b: Span };
  /** The result in one sentence, and all times of the whole reports; null if none can be compared. */
  readonly sentence: string;
  readonly overall: Table | null;
  /** Null without conditions. */
  readonly gates: { readonly summary: string; readonly results: readonly GateResult[] } | null;
  /** Machines and versions, then the configuration; null if the configurations are not at hand. */
  readonly differences: {
    readonly machines: readonly ConfigDifference[];
    readonly config: readonly ConfigDifference[] | null;
  };
  readonly notes: readonly string[];
  readonly sections: readonly ComparisonSection[];
}

/** A table under a heading, with what is said around it. */
export interface ComparisonSection {
  readonly id: "contributed" | "regions" | "kernels" | "ranks" | "activity" | "counters";
  readonly title: string;
  /** Null without rows. */
  readonly table: Table | null;
  /** What a row is, in the singular and in the plural. */
  readonly row: readonly [one: string, many?: string];
  /** What the numbers mean, as a sentence. */
  readonly legend: string | null;
  /** The total, where the table has no row for it. */
  readonly footer: string | null;
  /** What the table leaves out, as a sentence. */
  readonly left: string | null;
  /** Said instead of a table without rows; null: then the section is left out. */
  readonly empty: string | null;
}

/** How much a format shows, and in which form. */
export interface ComparisonMedium {
  readonly layout: "terminal" | "markdown" | "page";
  /** The number of regions; if there are more, those that changed most, and the others are counted. Default: all. */
  readonly regions?: number;
  /** The number of kernels that changed most; absent for all, changed or not. */
  readonly kernels?: number;
  /** The number of regions and of kernels with changed facts. Default: all. */
  readonly facts?: { readonly regions: number; readonly kernels: number };
  /** Maximum number of contributions. */
  readonly parts: number;
  /** The names of options that show more; absent where there are none. */
  readonly options?: { readonly regions: string; readonly kernels: string };
}

export function comparisonDocument(
  { names, reports, gates, config, links = { a: null, b: null } }: Comparison,
  medium: ComparisonMedium,
): ComparisonDocument {
  const named = (side: "a" | "b"): Span => {
    const [name, path] = [printableLabel(names[side], MAX_NAME), links[side]];
    return path === null ? name : link(name, path);
  };
  const { facts = ALL_FACTS } = medium;
  const request = { reports, medium };
  return {
    names: { a: named("a"), b: named("b") },
    sentence: overallSentence(reports),
    overall: overallTimes(reports).length === 0 ? null : overallTable(reports, medium.layout),
    gates: gates.length === 0 ? null : { summary: gateSummary(gates), results: gates },
    differences: {
      machines: reports.differences.map(({ what, a, b }) => ({
        key: what,
        a: a || null,
        b: b || null,
      })),
      config,
    },
    notes: notesBeside(reports),
    sections: [
      contributedSection(request),
      regionSection(request),
      kernelSection(request),
      factSection(request, ["ranks", RANKS_HEADING], rankFacts(reports), facts.regions),
      factSection(request, ["activity", ACTIVITY_HEADING], activityFacts(reports), facts.regions),
      factSection(request, ["counters", COUNTERS_HEADING], counterFacts(reports), facts.kernels),
    ],
  };
}

const MAX_NAME = 300;
const ALL_FACTS = { regions: Number.POSITIVE_INFINITY, kernels: Number.POSITIVE_INFINITY };

interface Composed {
  readonly reports: ReportComparison;
  readonly medium: ComparisonMedium;
}

const contributedSection = ({ reports, medium }: Composed): ComparisonSection => ({
  id: "contributed",
  title: "What contributed",
  table: waterfallTable(reports, medium.parts)[0] ?? null,
  row: ["contribution"],
  legend: null,
  footer: null,
  left: null,
  empty: null,
});

function regionSection({ reports, medium }: Composed): ComparisonSection {
  const { shown, folded } = foldedRegions(reports, medium.regions ?? Number.POSITIVE_INFINITY);
  // A total would be sorted among the rows of a page.
  const isPage = medium.layout === "page";
  const rows = isPage ? [...regionRows(reports, shown)] : rowsWithTotal(reports, shown);
  const withCounts = isPage && hasCounts(rows);
  const more =
    medium.options === undefined
      ? ""
      : `; ${medium.options.regions} ${reports.regions.length} shows all`;
  return {
    id: "regions",
    title: "Regions",
    table:
      reports.regions.length === 0
        ? null
        : changeTable(isPage ? "Name" : "Region", rows, medium.layout, { withCounts }),
    row: ["region"],
    legend: `Numbers are ${timeLabel(reports, mainTime(reports))}; ${intervalLegend(reports)}.`,
    footer: isPage ? totalText(reports) : null,
    left: folded.length === 0 ? null : `regions not shown: ${foldedText(folded)}${more}`,
    empty: "No regions.",
  };
}

/** Regions overlap, so their sum cannot give this total. */
function totalText(reports: ReportComparison): string {
  const { change } = totalRow(reports);
  const { a = null, b = null, delta = null, relative = null } = change ?? {};
  const half = change === undefined ? null : shownHalf(change);
  const interval = change === undefined ? null : pairedInterval(change);
  const around =
    interval === null ? "" : `; ${formatPercent(interval.low)}…${formatPercent(interval.high)} %`;
  return `${totalName(reports)}: ${formatMs(a)} ms before, ${formatMs(b)} ms after: ${formatDelta(delta, half)} ms (${formatPercent(relative)} %${around}), ${VERDICTS[change?.verdict ?? "same"]}`;
}

/** Streamed: two large reports have millions of regions. */
const rowsWithTotal = (reports: ReportComparison, shown: readonly RegionChange[]) => ({
  *[Symbol.iterator]() {
    yield* regionRows(reports, shown);
    yield totalRow(reports);
  },
});

function hasCounts(rows: Iterable<{ readonly counts: string }>): boolean {
  for (const { counts } of rows) if (counts !== "") return true;
  return false;
}

function kernelSection({ reports, medium }: Composed): ComparisonSection {
  const { layout, kernels: most, options } = medium;
  const word = kernelWord(reports);
  const heading = kernelHeading(reports);
  const all =
    most === undefined ? allKernelRows(reports, MAX_KERNEL_NAME) : changedKernelRows(reports);
  const shown = all.slice(0, most);
  const left = all.length - shown.length;
  const more = options === undefined ? "." : `: ${options.kernels} ${all.length} shows all`;
  return {
    id: "kernels",
    title: most === undefined ? `${heading}s` : `${heading}s that differ`,
    table:
      shown.length === 0
        ? null
        : changeTable(layout === "page" ? "Name" : heading, shown, layout, {
            withCounts: layout !== "terminal" && hasCounts(shown),
          }),
    row: [word],
    legend: `${capitalized(word)}s ${JUDGED}.`,
    footer: null,
    left: left === 0 ? null : `${plural(left, `more ${word}`)} changed${more}`,
    empty: most === undefined ? `No ${word}s.` : null,
  };
}

/** Maximum length of a kernel's name where all are listed, in characters. */
const MAX_KERNEL_NAME = 160;

const FACT_ROWS = {
  ranks: ["change of ranks", "changes of ranks"],
  activity: ["change of GPU use", "changes of GPU use"],
  counters: ["change of counters", "changes of counters"],
} as const;

function factSection(
  { reports, medium }: Composed,
  [id, title]: readonly [id: keyof typeof FACT_ROWS, title: string],
  all: readonly GpuFacts[],
  most: number,
): ComparisonSection {
  const shown = all.slice(0, most);
  const left = all.length - shown.length;
  const option = medium.options?.[id === "counters" ? "kernels" : "regions"];
  const name = id === "counters" ? kernelHeading(reports) : "Region";
  const table = {
    terminal: () => factTree(title, shown),
    markdown: () => factTable({ name, what: "", repeats: false }, shown),
    page: () => factTable({ name: "Name", what: "What", repeats: true }, shown),
  }[medium.layout];
  return {
    id,
    title,
    table: shown.length === 0 ? null : table(),
    row: FACT_ROWS[id],
    legend: null,
    footer: null,
    left:
      left === 0
        ? null
        : `${left} more changed${option === undefined ? "." : `: ${option} ${all.length} shows all`}`,
    empty: null,
  };
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

/** `19,000 same, 940 unclear`. */
const foldedText = (folded: readonly FoldedRegions[]): string =>
  folded
    .map(
      ({ verdict, count }) =>
        `${grouped(String(count))} ${verdict === null ? "without times" : VERDICTS[verdict]}`,
    )
    .join(", ");
