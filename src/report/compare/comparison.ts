/** The contents of a comparison, for all formats. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { andOthers, capitalized, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { formatDelta, formatMs, formatPercent, formatPercentage } from "../../pages/numbers.ts";
import { familyKey, familyRows } from "../model/families.ts";
import { isInside, kindMarks, pathLines, pathWords } from "../model/region-path.ts";
import { jsonPieces } from "../render/json.ts";
import { countChange, pairedInterval, shownHalf, TOO_FEW_RUNS } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import { differenceNote } from "./comparison-notes.ts";
import type {
  Change,
  Changes,
  GateResult,
  KernelChange,
  MainTime,
  RegionChange,
  StoredComparison,
  Verdict,
} from "./comparison-types.ts";

export interface Comparison extends Pick<StoredComparison, "names" | "config" | "gates"> {
  readonly reports: ReportComparison;
  /** Links to the pages of the two reports, relative to the comparison; null if unknown. */
  readonly links?: { readonly a: string | null; readonly b: string | null };
}

/** The time that is compared. */
export const mainTime = ({ main_time }: ReportComparison): MainTime => main_time;

/** In a list of what several programs measured. */
export const TIME_LABELS: Readonly<Record<MainTime, string>> = {
  total_ms: "time of kernels or CPU operations",
  wall_ms: "wall time",
  cpu_ms: "processor time in ranges",
};

/** Names what the reports have: kernels, or CPU operations. */
export function timeLabel({ kernels }: Pick<ReportComparison, "kernels">, time: MainTime): string {
  const kinds = new Set(kernels.map(({ kind }) => kind));
  if (time !== "total_ms" || kinds.size !== 1) return TIME_LABELS[time];
  return kinds.has("cpu_operation") ? "time of CPU operations" : "GPU time of kernels";
}

/** The compared time of a region without the regions inside it. */
const OWN_TIMES = {
  total_ms: "exclusive_ms",
  wall_ms: "wall_exclusive_ms",
  cpu_ms: "cpu_exclusive_ms",
} as const satisfies Readonly<Record<MainTime, string>>;

export const VERDICTS: Readonly<Record<Verdict, string>> = {
  more: "slower",
  less: "faster",
  same: "same",
  unclear: "unclear",
  added: "new",
  removed: "gone",
  left_out: "left out",
};

// The result as a whole.

/** A time of the whole report, with its name for readers. */
export interface Overall {
  readonly name: string;
  readonly change: Change;
}

/** The compared time first, then the other times that both reports have. */
export function overallTimes(reports: ReportComparison): readonly Overall[] {
  const main = mainTime(reports);
  const names = [main, "wall_ms", "total_ms", "cpu_ms"] as const;
  return [...new Set(names)].flatMap((name) => {
    const change = reports.totals[name];
    if (change === undefined || (change.delta === null && name !== main)) return [];
    const label =
      name === "wall_ms" && isOfRegions(reports, name) ? WALL_IN_RANGES : timeLabel(reports, name);
    return [{ name: label, change }];
  });
}

const WALL_IN_RANGES = "wall time in ranges";

/** Whether a time of the whole report leaves out what ran outside all ranges; without ranges, there is nothing else. */
const isOfRegions = ({ regions }: ReportComparison, time: MainTime): boolean =>
  time !== "total_ms" && regions.some(({ kind }) => kind !== "outside");

/** The name of the compared time of the whole report among those of regions. */
export const totalName = (reports: ReportComparison): string =>
  isOfRegions(reports, mainTime(reports)) ? "regions together" : "all";

/** The overall result with its interval and the basis of that interval, in one sentence. */
export function overallSentence(reports: ReportComparison): string {
  const [main] = overallTimes(reports);
  if (main === undefined || main.change.delta === null)
    return "There is no overall result: no time of A and B can be compared.";
  const {
    name,
    change: { a, b, delta, relative, verdict },
  } = main;
  const uncertainty = shownHalf(main.change);
  const interval = pairedInterval(main.change);
  const half = uncertainty === null || uncertainty === 0 || a === null ? null : uncertainty / a;
  const percent =
    relative === null
      ? ""
      : ` (${formatPercent(relative)} %${half === null || !Number.isFinite(half) ? "" : ` ±${formatPercentage(half * 100)} %`}${interval === null ? "" : `; ${formatPercent(interval.low)}…${formatPercent(interval.high)} %`})`;
  const numbers = `${formatDelta(delta, uncertainty)} ms${percent}, from ${formatMs(a)} to ${formatMs(b)} ms (${name})`;
  const result = WHOLE_VERDICTS[verdict] ?? "A and B are not comparable as a whole";
  return `${capitalized(result)}: ${numbers}; ${intervalSource(main.change)}.`;
}

const WHOLE_VERDICTS: Partial<Readonly<Record<Verdict, string>>> = {
  more: "B is slower",
  less: "B is faster",
  same: "B takes as long as A",
  unclear: "it is unclear whether B is slower or faster",
};

function intervalSource({ freedom, log_ratios, relative_low }: Change): string {
  if (log_ratios !== undefined)
    return `ms are means of the runs, % is the mean ratio of the pairs of runs, ${
      relative_low === undefined
        ? "which are too few for an interval"
        : "and low…high its 95 % interval"
    }`;
  return freedom === undefined ? TOO_FEW_RUNS : "± is the 95 % interval of the repeated runs";
}

/** What the tables show beside a change. */
export const intervalLegend = (reports: ReportComparison): string =>
  intervalSource(reports.totals[mainTime(reports)] ?? NOTHING_KNOWN);

const NOTHING_KNOWN = countChange(null, null);

/** The contribution of a region without its inner regions to the difference. */
export interface Contribution {
  /** The label of the region, safe to print. */
  readonly label: string;
  /** The difference in ms; for a region that only one report has, its whole time. */
  readonly ms: number;
  readonly uncertainty: number | null;
  readonly verdict: Verdict;
}

/** The difference in steps, one per region: `a` and all `ms` add up to `b`. */
export interface Waterfall {
  readonly a: number;
  readonly b: number;
  /** In descending order of size. */
  readonly parts: readonly Contribution[];
  /** The total of the remaining regions; null if there are none. */
  readonly others: { readonly count: number; readonly ms: number } | null;
  /** The difference that no region explains; null if it is too small to see. */
  readonly rest: { readonly ms: number; readonly label: string } | null;
}

const SEEN = 0.005;

/**
 * What a region without the regions inside it contributes to the difference, in ms; for a region that only one report
 * has, its whole own time; for one that not every run has, its share of the mean run. Null if it is not part of the
 * compared time, or not compared.
 */
export function contributionOf(
  { kind, changes, runs }: RegionChange,
  { main_time: time }: ReportComparison,
): number | null {
  // Wall time outside all ranges is not part of the compared time.
  if (time === "wall_ms" && kind === "outside") return null;
  const change = changes[OWN_TIMES[time]];
  if (change === undefined || change.verdict === "left_out") return null;
  if (runs === undefined) return change.delta ?? (change.b ?? 0) - (change.a ?? 0);
  const inMean = (side: "a" | "b") => {
    const seen = runs[side];
    return (change[side] ?? 0) * (seen === null ? 1 : seen.seen / seen.total);
  };
  return inMean("b") - inMean("a");
}

/** Families, and regions of none: each time counts once. */
export const comparedRows = ({ regions, families }: ReportComparison): readonly RegionChange[] =>
  familyRows(regions, families);

/** The member of a family that contributes at least half of its change, and three times the mean of the others. */
function contributionOutliers(reports: ReportComparison) {
  const members = new Map<string, { readonly region: RegionChange; readonly ms: number }[]>();
  for (const region of reports.families.length === 0 ? [] : reports.regions) {
    const ms = contributionOf(region, reports);
    if (ms !== null) getOrCreate(members, familyKey(region), () => []).push({ region, ms });
  }
  return (family: RegionChange, ms: number) => {
    const ownMembers = family.members === undefined ? [] : (members.get(familyKey(family)) ?? []);
    const [first, ...others] = ownMembers.toSorted((x, y) => Math.abs(y.ms) - Math.abs(x.ms));
    if (first === undefined || others.length === 0) return null;
    const rest = others.reduce((sum, other) => sum + Math.abs(other.ms), 0) / others.length;
    const most = Math.abs(first.ms);
    return most * 2 < Math.abs(ms) || most < rest * 3 ? null : first;
  };
}

/** Null if the whole cannot be compared, or has no parts. */
export function waterfallOf(reports: ReportComparison, most: number): Waterfall | null {
  const time = mainTime(reports);
  const { a = null, b = null, delta = null } = reports.totals[time] ?? {};
  if (a === null || b === null || delta === null) return null;
  const rows = comparedRows(reports);
  const lineOf = pathLines(rows);
  const outlierOf = contributionOutliers(reports);
  const all = rows
    .flatMap((region): readonly Contribution[] => {
      const change = region.changes[OWN_TIMES[time]];
      const ms = contributionOf(region, reports);
      if (change === undefined || ms === null || ms === 0) return [];
      const { verdict } = change;
      const uncertainty = shownHalf(change);
      const outlier = outlierOf(region, ms);
      const alone =
        outlier === null ? "" : ` (${lineOf(outlier.region)} alone ${formatDelta(outlier.ms)} ms)`;
      return [
        { label: printableLabel(`${lineOf(region)}${alone}`, 240), ms, uncertainty, verdict },
      ];
    })
    .sort((x, y) => Math.abs(y.ms) - Math.abs(x.ms));
  if (all.length === 0) return null;
  const sum = (some: readonly Contribution[]) => some.reduce((ms, part) => ms + part.ms, 0);
  const left = all.slice(most);
  const rest = delta - sum(all);
  const scale = Math.max(Math.abs(delta), ...all.map(({ ms }) => Math.abs(ms)));
  return {
    a,
    b,
    parts: all.slice(0, most),
    others: left.length === 0 ? null : { count: left.length, ms: sum(left) },
    rest: Math.abs(rest) < SEEN * scale ? null : { ms: rest, label: REST_LABELS[time] },
  };
}

/** What runs at the same time counts once in the wall time of the whole; a selection may leave out other regions. */
const REST_LABELS: Readonly<Record<MainTime, string>> = {
  wall_ms: "(overlap, or in none of these regions)",
  total_ms: "(in none of these regions)",
  cpu_ms: "(in none of these regions)",
};

/** What the label of the rest means. */
export const restHint = (time: MainTime): string =>
  `${time === "wall_ms" ? "Overlap: what runs at the same time, as in several threads, counts once in A and B, but in each region. " : ""}In none of these regions: what a selection, or the limit of 10,000 regions, leaves out, and what is left by means of regions that not every run has.`;

/** The verdicts in words, for kernels and operations. */
export const JUDGED =
  "are judged by the intervals of at least three repeated runs; what fewer show is unclear";

/** The notes, except those that the table of differences replaces. */
export const notesBeside = ({ notes, differences }: ReportComparison): readonly string[] => {
  const shown = new Set(differences.map(differenceNote));
  return notes.filter((note) => !shown.has(note));
};

/** Kernels that both selections include and whose time differs, in the order of the comparison. */
export const changedKernels = ({ kernels }: ReportComparison): readonly KernelChange[] =>
  kernels.filter(
    ({ presence, changes }) =>
      presence !== "left_out" && (changes["total_ms"]?.verdict ?? "same") !== "same",
  );

/** Counts that differ: more kernels or calls explain a longer time. */
export function countNotes(
  changes: Changes,
  reports: ReportComparison,
  runs?: RegionChange["runs"],
): string {
  const names = { invocations: "calls", calls: "calls", kernel_count: `${kernelWord(reports)}s` };
  const counts = (["invocations", "calls", "kernel_count"] as const).flatMap((name) => {
    const change = changes[name];
    if (change === undefined || change.delta === null || change.delta === 0) return [];
    return [`${names[name]} ${change.a} -> ${change.b}`];
  });
  return [...counts, ...(runs === undefined ? [] : [seenNote(runs)])].join(", ");
}

/** `seen in 3 of 5 runs of A and 5 of 5 runs of B`; a run of which only the longest regions are kept may have had it. */
function seenNote({ a, b }: NonNullable<RegionChange["runs"]>): string {
  const words = [{ name: "A", runs: a } as const, { name: "B", runs: b } as const].flatMap(
    ({ name, runs }) =>
      runs === null
        ? []
        : [
            `${runs.seen} of ${plural(runs.total, "run")} of ${name}${runs.cut === undefined ? "" : ` (not among the longest of ${runs.cut})`}`,
          ],
  );
  return `seen in ${words.join(" and ")}`;
}

/** The term for an entry of the kernel lists: CPU operations are never called kernels. */
export const kernelWord = ({ kernels }: ReportComparison): string =>
  kernels.length > 0 && kernels.every(({ kind }) => kind === "cpu_operation")
    ? "CPU operation"
    : "kernel";

/** The term as a heading. */
export const kernelHeading = (reports: ReportComparison): string =>
  capitalized(kernelWord(reports));

/** A region and the number of shown regions that contain it. */
export interface RegionLine {
  readonly region: RegionChange;
  readonly level: number;
  /** The label, safe to print. */
  readonly label: string;
}

/** @param among all regions of the comparison, if only some are shown */
export function regionLines(
  regions: readonly RegionChange[],
  among: readonly RegionChange[] = regions,
): readonly RegionLine[] {
  const around: RegionChange[] = [];
  const kindOf = kindMarks(among);
  return regions.map((region) => {
    const outermost = around.findIndex((other) => !isInside(region, other));
    if (outermost >= 0) around.length = outermost;
    const shown = around.at(-1)?.path.length ?? 0;
    const words = pathWords(region, (text) => printableLabel(text), shown);
    const label = `${words}${kindOf(region)}`;
    const line = { region, level: around.length, label };
    around.push(region);
    return line;
  });
}

/** The result of the gates in one line, for a log. */
export function gateSummary(gates: readonly GateResult[]): string {
  const breached = gates.filter(({ outcome }) => outcome === "breached");
  const unclear = gates.filter(({ outcome }) => outcome === "unclear");
  const [first, ...others] = breached;
  if (first !== undefined) return `gate breached: ${first.reason}${andOthers(others.length)}`;
  const unchecked = gates.filter(({ outcome }) => outcome === "unchecked").length;
  const tooFew = unclear.filter(({ too_few_runs }) => too_few_runs === true).length;
  const noisy = unclear.length - tooFew;
  const doubt = [
    ...(noisy === 0 ? [] : [`, ${noisy} past the limit but within noise`]),
    ...(tooFew === 0 ? [] : [`, ${tooFew} past the limit, but ${TOO_FEW_RUNS}`]),
  ].join("");
  const missing = unchecked === 0 ? "" : `, ${unchecked} left out of a report, unchecked`;
  return `gates passed: ${gates.length - unchecked} checked${doubt}${missing}`;
}

/** Version of the comparison's JSON, `major.minor`; a minor version only adds. */
export const COMPARISON_CONTRACT = "hydraconf.comparison/1.8";

/** The versions that can be read. */
export const COMPARISON_CONTRACTS: readonly StoredComparison["contract"][] = [
  "hydraconf.comparison/1.6",
  "hydraconf.comparison/1.7",
  COMPARISON_CONTRACT,
];

/**
 * The document for programs, in pieces: for two large reports it can be longer than the longest string. Times are
 * milliseconds; an infinite limit does not occur.
 */
export function comparisonJsonPieces({
  names,
  reports,
  config,
  gates,
}: Comparison): Iterable<string> {
  const { members: _, ...document } = reports;
  const stored: StoredComparison = {
    contract: COMPARISON_CONTRACT,
    names,
    ...document,
    config,
    gates,
  };
  return jsonPieces(stored);
}
