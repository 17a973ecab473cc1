/** Combines several runs of one workload: the numbers of the median run, and the spread of all runs. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { agreeing, firstFewOf, partOf, plural } from "../../foundation/text/plural.ts";
import type {
  KernelRecord,
  KernelRepeats,
  OnlyRun,
  RegionRepeats,
  RepeatStatistics,
  UnshownRegion,
} from "../../report/model/document.ts";
import { familyKey, familyRows } from "../../report/model/families.ts";
import { outermost, pathLines } from "../../report/model/region-path.ts";
import { regionKey } from "../../report/model/report-files.ts";
import { isLongestOnly, medianRunNote } from "../../report/view/notes.ts";
import type { RegionModel, RegionModelEntry, ScopeModel } from "./region-model.ts";

export interface AcrossRuns {
  /** The index of the shown run, whose time is the median. */
  readonly shown: number;
  readonly model: RegionModel;
}

/** @param models the runs in chronological order; at least one */
export function combineRuns(models: readonly RegionModel[]): AcrossRuns {
  const shown = middleRun(models);
  const model = models[shown];
  if (model === undefined) throw new Error("no run to combine");
  if (models.length === 1) return { shown, model };
  const [first, ...others] = model.scopes;
  if (first === undefined) return { shown, model };
  // Processes have different ids in every run, so only the scopes of all processes correspond to each other.
  const runs = models.flatMap(({ scopes }) => scopes.slice(0, 1));
  return { shown, model: { ...model, scopes: [withRepeats(first, runs), ...others] } };
}

function middleRun(models: readonly RegionModel[]): number {
  const times = models.map((model, index) => ({ index, ns: timeOf(model) }));
  times.sort((a, b) => a.ns - b.ns || a.index - b.index);
  return times[Math.floor((times.length - 1) / 2)]?.index ?? 0;
}

const timeOf = ({ scopes: [scope] }: RegionModel): number =>
  scope?.totals.wallNs ?? scope?.totals.kernelNs ?? 0;

function withRepeats(scope: ScopeModel, runs: readonly ScopeModel[]): ScopeModel {
  const single = seenIn(runs, regionKey, ({ regions }) => regions);
  // A run may number its calls otherwise than the one before.
  const together = seenIn(runs, familyKey, familyRowsOf);
  const repeated =
    (seen: typeof single, keyOf: typeof regionKey) =>
    (entry: RegionModelEntry): RegionModelEntry => ({
      ...entry,
      repeats: repeatsOf(seen.get(keyOf(entry)) ?? NOT_SEEN, runs.length),
    });
  const regions = scope.regions.map(repeated(single, regionKey));
  const families = (scope.families ?? []).map(repeated(together, familyKey));
  const shown = familyRows(regions, families);
  const others = unshown(shown, [...together.values()], runs.length);
  const listed = mostSeen(others);
  const kernelRepeats = kernelsOver(
    runs.map((run) => outermost(run.regions).flatMap(({ kernels }) => kernels)),
  );
  return {
    ...scope,
    regions,
    ...(families.length > 0 && { families }),
    totals: { ...scope.totals, repeats: totalsOver(runs) },
    ...(kernelRepeats.length > 0 && { kernelRepeats }),
    ...(listed.length > 0 && { unshownRegions: listed }),
    notes: [
      ...scope.notes,
      medianRunNote(runs.length),
      ...repeatNotes(shown, others, runs.length),
      ...(listed.length < others.length
        ? [
            `unshown_regions holds ${partOf(listed.length, others.length, "region")} that the report of the run shown does not have`,
          ]
        : []),
    ],
  };
}

function repeatNotes(
  shown: readonly RegionModelEntry[],
  others: readonly UnshownRegion[],
  runs: number,
): readonly string[] {
  // Time outside all ranges, for starting and ending, says nothing about the regions of the program.
  const inRanges = shown.filter(({ kind }) => kind !== "outside");
  const all = inRanges.flatMap(({ repeats }) => repeats?.wall_ms ?? repeats?.total_ms ?? []);
  const unstable = all.filter(({ stable }) => !stable).length;
  const regions: readonly (RegionModelEntry | UnshownRegion)[] = [...inRanges, ...others];
  const rare = regions.filter(({ repeats }) => (repeats?.runs ?? runs) < runs);
  const lineOf = pathLines(regions);
  const named = (some: readonly (RegionModelEntry | UnshownRegion)[]) =>
    firstFewOf(
      some,
      MOST_NAMES,
      (region) => `${lineOf(region)} (${region.repeats?.runs ?? runs} of ${runs})`,
    );
  const means = (count: number) =>
    `${agreeing(count, "its mean is", "their means are")} of the runs that have ${agreeing(count, "it", "them")}`;
  const isMissed = ({ repeats }: RegionModelEntry | UnshownRegion) =>
    (repeats?.runs ?? runs) + (repeats?.cut_runs ?? 0) < runs;
  const missed = rare.filter(isMissed);
  const cut = rare.filter((region) => !isMissed(region));
  return [
    ...(unstable === 0
      ? []
      : [
          `${partOf(unstable, all.length, "region")} ${agreeing(unstable, "is", "are")} not stable over the runs: the 95 % interval of ${agreeing(unstable, "its", "their")} mean is wider than ±5 %`,
        ]),
    ...(missed.length === 0
      ? []
      : [
          `${plural(missed.length, "region was", "regions were")} not seen in every run: ${named(missed)}; ${means(missed.length)}`,
        ]),
    ...(cut.length === 0
      ? []
      : [
          `${plural(cut.length, "region is", "regions are")} not among the longest of every run, and no others are kept: ${named(cut)}; ${means(cut.length)}`,
        ]),
  ];
}

const MOST_NAMES = 5;

const familyRowsOf = ({ regions, families = [] }: ScopeModel): readonly RegionModelEntry[] =>
  familyRows(regions, families);

/** A region in several runs. */
interface Seen {
  /** Those of the runs that have it. */
  readonly entries: readonly RegionModelEntry[];
  /** Of the others, those of which only the longest regions are kept: they may have had it. */
  readonly cutRuns: number;
}

const NOT_SEEN: Seen = { entries: [], cutRuns: 0 };

/** The regions of all runs by their keys. */
function seenIn(
  runs: readonly ScopeModel[],
  keyOf: (entry: RegionModelEntry) => string,
  entriesOf: (run: ScopeModel) => readonly RegionModelEntry[],
): ReadonlyMap<string, Seen> {
  const found = new Map<string, { entries: RegionModelEntry[]; inCut: number }>();
  const isCut = runs.map(({ notes }) => isLongestOnly(notes));
  for (const [place, run] of runs.entries())
    for (const entry of entriesOf(run)) {
      const seen = getOrCreate(found, keyOf(entry), () => ({ entries: [], inCut: 0 }));
      seen.entries.push(entry);
      if (isCut[place] === true) seen.inCut++;
    }
  const cut = isCut.filter((each) => each).length;
  return new Map(
    [...found].map(([key, { entries, inCut }]) => [key, { entries, cutRuns: cut - inCut }]),
  );
}

/**
 * Regions that only other runs have. A run has other members of a family than the one before, of which its statistics
 * are; those of a family are therefore left out, whether a run has one member or several.
 */
function unshown(
  shown: readonly RegionModelEntry[],
  all: readonly Seen[],
  runs: number,
): readonly UnshownRegion[] {
  const shownFamilies = new Set(shown.map(familyKey));
  return all.flatMap((seen) => {
    const { entries } = seen;
    const [first] = entries;
    if (first === undefined || first.kind === "outside" || shownFamilies.has(familyKey(first)))
      return [];
    const { path, domain, path_domains, kind } = first;
    return entries.some(({ members }) => members !== undefined)
      ? []
      : [
          {
            path,
            domain,
            ...(path_domains !== undefined && { path_domains }),
            kind,
            repeats: repeatsOf(seen, runs),
            ...(entries.length === 1 && { only_run: onlyRunOf(first) }),
          },
        ];
  });
}

/** One run has no spread, and so no statistics. */
function onlyRunOf(entry: RegionModelEntry): OnlyRun {
  const { kernelNs, exclusiveKernelNs, wallNs, exclusiveWallNs, cpu } = entry;
  const milliseconds = (ns: number | null) => (ns === null ? null : ns / NS_PER_MS);
  return {
    total_ms: milliseconds(kernelNs),
    exclusive_ms: milliseconds(exclusiveKernelNs),
    wall_ms: milliseconds(wallNs),
    wall_exclusive_ms: milliseconds(exclusiveWallNs),
    ...(cpu !== undefined && {
      cpu_ms: cpu.ns / NS_PER_MS,
      cpu_exclusive_ms: cpu.exclusiveNs / NS_PER_MS,
    }),
  };
}

/** With names that differ from run to run, each run adds regions of its own. */
const MOST_UNSHOWN = 1_000;

/** In their order, those of most runs, and of these the longest. */
function mostSeen(regions: readonly UnshownRegion[]): readonly UnshownRegion[] {
  if (regions.length <= MOST_UNSHOWN) return regions;
  const ms = ({ repeats: { wall_ms, total_ms }, only_run }: UnshownRegion) =>
    wall_ms?.mean ?? total_ms?.mean ?? only_run?.wall_ms ?? only_run?.total_ms ?? 0;
  const first = regions.toSorted((a, b) => b.repeats.runs - a.repeats.runs || ms(b) - ms(a));
  const kept = new Set(first.slice(0, MOST_UNSHOWN));
  return regions.filter((region) => kept.has(region));
}

type NumberOf<Entry> = (entry: Entry) => number | null;

/** Statistics of numbers that each of these entries has; null where one does not, or there is only one. */
function statisticsOver<Entry>(entries: readonly Entry[]) {
  const statistics = (measure: NumberOf<Entry>): RepeatStatistics | null => {
    const values = entries.map(measure).filter((value) => value !== null);
    return values.length < entries.length ? null : repeatStatistics(values);
  };
  const milliseconds = (measure: NumberOf<Entry>): RepeatStatistics | null =>
    statistics((entry) => {
      const ns = measure(entry);
      return ns === null ? null : ns / NS_PER_MS;
    });
  return { statistics, milliseconds };
}

function repeatsOf({ entries, cutRuns }: Seen, runs: number): RegionRepeats {
  const { statistics, milliseconds } = statisticsOver(entries);
  const kernels = kernelsOver(entries.map((entry) => entry.kernels));
  return {
    runs: entries.length,
    total_runs: runs,
    ...(cutRuns > 0 && { cut_runs: cutRuns }),
    total_ms: milliseconds(({ kernelNs }) => kernelNs),
    exclusive_ms: milliseconds(({ exclusiveKernelNs }) => exclusiveKernelNs),
    wall_ms: milliseconds(({ wallNs }) => wallNs),
    wall_exclusive_ms: milliseconds(({ exclusiveWallNs }) => exclusiveWallNs),
    ...(entries.some(({ cpu }) => cpu !== undefined) && {
      cpu_ms: milliseconds(({ cpu }) => cpu?.ns ?? null),
      cpu_exclusive_ms: milliseconds(({ cpu }) => cpu?.exclusiveNs ?? null),
    }),
    ...(entries.some(({ instructions }) => instructions !== undefined) && {
      instructions: statistics(({ instructions }) => instructions?.count ?? null),
      instructions_exclusive: statistics(({ instructions }) => instructions?.exclusive ?? null),
    }),
    ...(kernels.length > 0 && { kernels }),
  };
}

function totalsOver(runs: readonly ScopeModel[]): RegionRepeats {
  const { statistics, milliseconds } = statisticsOver(runs.map(({ totals }) => totals));
  return {
    runs: runs.length,
    total_runs: runs.length,
    total_ms: milliseconds(({ kernelNs }) => kernelNs),
    wall_ms: milliseconds(({ wallNs }) => wallNs),
    ...(runs.some(({ totals }) => totals.cpuNs !== undefined) && {
      cpu_ms: milliseconds(({ cpuNs = null }) => cpuNs),
    }),
    ...(runs.some(({ totals }) => totals.instructions !== undefined) && {
      instructions: statistics(({ instructions = null }) => instructions),
    }),
  };
}

/**
 * Kernels over runs. One that a run did not launch takes no time there, so that the means add up to that of all kernels.
 *
 * @param runs the records of each
 */
function kernelsOver(runs: readonly (readonly KernelRecord[])[]): readonly KernelRepeats[] {
  const found = new Map<string, KernelTimes>();
  for (const [run, records] of runs.entries())
    for (const record of records) {
      const times = getOrCreate(found, `${record.kind} ${record.kernel_name}`, () => ({
        record,
        ms: runs.map(() => 0),
        launchedIn: new Set<number>(),
        isTimed: true,
      }));
      if (record.total_ms === null) times.isTimed = false;
      times.ms[run] = (times.ms[run] ?? 0) + (record.total_ms ?? 0);
      times.launchedIn.add(run);
    }
  return [...found.values()].flatMap(
    ({ record: { kernel_name, kind }, ms, launchedIn, isTimed }) => {
      const total_ms = isTimed ? repeatStatistics(ms) : null;
      return total_ms === null ? [] : [{ kernel_name, kind, runs: launchedIn.size, total_ms }];
    },
  );
}

interface KernelTimes {
  readonly record: KernelRecord;
  readonly ms: number[];
  readonly launchedIn: Set<number>;
  isTimed: boolean;
}

const NS_PER_MS = 1e6;

// Statistics of a number over several runs.

/** A number is stable if the 95 % interval of its mean lies within this share of the mean. */
const STABLE_WITHIN = 0.05;

/**
 * Mean, sample standard deviation and the 95 % interval of the mean by Student's t, which is valid for few runs. Null
 * for fewer than two values: one run has no spread.
 */
export function repeatStatistics(values: readonly number[]): RepeatStatistics | null {
  const count = values.length;
  if (count < 2) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const std = Math.sqrt(squares / (count - 1));
  const half = (studentT(count - 1) * std) / Math.sqrt(count);
  return {
    mean,
    std,
    ci95_low: mean - half,
    ci95_high: mean + half,
    stable: half <= Math.abs(mean) * STABLE_WITHIN,
  };
}

/**
 * The 97.5 % quantile of Student's t: three exact digits, from a table up to 30 degrees of freedom, beyond that from
 * the expansion of Cornish and Fisher around the normal quantile.
 */
export function studentT(freedom: number): number {
  const tabulated = T_975[freedom - 1];
  if (tabulated !== undefined) return tabulated;
  const z = 1.959964;
  return (
    z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
  );
}

const T_975: readonly number[] = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048,
  2.045, 2.042,
];
