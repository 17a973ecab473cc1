/** Combines several runs of one workload: the numbers of the median run, and the spread of all runs. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { agreeing, partOf, plural } from "../../foundation/text/plural.ts";
import type {
  KernelRecord,
  KernelRepeats,
  RegionRepeats,
  RepeatStatistics,
} from "../../report/model/document.ts";
import { familyKey, familyRows } from "../../report/model/families.ts";
import { isInside } from "../../report/model/region-path.ts";
import { regionKey } from "../../report/model/report-files.ts";
import { medianRunNote } from "../../report/view/notes.ts";
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
  const single = entriesBy(
    regionKey,
    runs.map(({ regions }) => regions),
  );
  // A run may number its calls otherwise than the one before.
  const together = entriesBy(familyKey, runs.map(familyRowsOf));
  const repeated =
    (entriesByKey: typeof single, keyOf: typeof regionKey) =>
    (entry: RegionModelEntry): RegionModelEntry => ({
      ...entry,
      repeats: repeatsOf(entriesByKey.get(keyOf(entry)) ?? [], runs.length),
    });
  const regions = scope.regions.map(repeated(single, regionKey));
  const families = (scope.families ?? []).map(repeated(together, familyKey));
  // Time outside all ranges, for starting and ending, says nothing about the regions of the program.
  const all = familyRows(regions, families).flatMap(({ kind, repeats }) =>
    kind === "outside" ? [] : (repeats?.wall_ms ?? repeats?.total_ms ?? []),
  );
  const unstable = all.filter(({ stable }) => !stable).length;
  const missing = [...together.values()].filter(
    (entries) => entries.length < runs.length && entries[0]?.kind !== "outside",
  ).length;
  const kernelRepeats = kernelsOver(runs);
  return {
    ...scope,
    regions,
    ...(families.length > 0 && { families }),
    ...(kernelRepeats.length > 0 && { kernelRepeats }),
    notes: [
      ...scope.notes,
      medianRunNote(runs.length),
      ...(unstable === 0
        ? []
        : [
            `${partOf(unstable, all.length, "region")} ${agreeing(unstable, "is", "are")} not stable over the runs: the 95 % interval of ${agreeing(unstable, "its", "their")} mean is wider than ±5 %`,
          ]),
      ...(missing === 0
        ? []
        : [`${plural(missing, "region was", "regions were")} not seen in every run`]),
    ],
  };
}

const familyRowsOf = ({ regions, families = [] }: ScopeModel): readonly RegionModelEntry[] =>
  familyRows(regions, families);

/** The entries of all runs by their keys. */
function entriesBy(
  keyOf: (entry: RegionModelEntry) => string,
  runs: readonly (readonly RegionModelEntry[])[],
): ReadonlyMap<string, readonly RegionModelEntry[]> {
  const found = new Map<string, RegionModelEntry[]>();
  for (const entries of runs)
    for (const entry of entries) getOrCreate(found, keyOf(entry), () => []).push(entry);
  return found;
}

function repeatsOf(entries: readonly RegionModelEntry[], runs: number): RegionRepeats {
  const statistics = (
    measure: (entry: RegionModelEntry) => number | null,
  ): RepeatStatistics | null => {
    const values = entries.map(measure).filter((value) => value !== null);
    return values.length < runs ? null : repeatStatistics(values);
  };
  const over = (measure: (entry: RegionModelEntry) => number | null): RepeatStatistics | null =>
    statistics((entry) => {
      const ns = measure(entry);
      return ns === null ? null : ns / NS_PER_MS;
    });
  return {
    runs: entries.length,
    total_ms: over(({ kernelNs }) => kernelNs),
    exclusive_ms: over(({ exclusiveKernelNs }) => exclusiveKernelNs),
    wall_ms: over(({ wallNs }) => wallNs),
    wall_exclusive_ms: over(({ exclusiveWallNs }) => exclusiveWallNs),
    ...(entries.some(({ cpu }) => cpu !== undefined) && {
      cpu_ms: over(({ cpu }) => cpu?.ns ?? null),
      cpu_exclusive_ms: over(({ cpu }) => cpu?.exclusiveNs ?? null),
    }),
    ...(entries.some(({ instructions }) => instructions !== undefined) && {
      instructions: statistics(({ instructions }) => instructions?.count ?? null),
      instructions_exclusive: statistics(({ instructions }) => instructions?.exclusive ?? null),
    }),
  };
}

/** Only kernels that every run launched: a run without a kernel has no time to be averaged. */
function kernelsOver(runs: readonly ScopeModel[]): readonly KernelRepeats[] {
  const found = new Map<string, { readonly record: KernelRecord; readonly times: number[] }>();
  for (const [run, { regions }] of runs.entries()) {
    for (const { kernels } of outermost(regions))
      for (const record of kernels) {
        if (record.total_ms === null) continue;
        const key = JSON.stringify([record.kind, record.kernel_name]);
        const { times } = getOrCreate(found, key, () => ({ record, times: [] }));
        times[run] = (times[run] ?? 0) + record.total_ms;
      }
    // A kernel that this run does not have cannot be in every run.
    for (const [key, { times }] of found) if (times[run] === undefined) found.delete(key);
  }
  return [...found.values()].flatMap(({ record: { kernel_name, kind }, times }) => {
    const total_ms = times.length < runs.length ? null : repeatStatistics(times);
    const isWhole = times.every((ms) => ms !== undefined);
    return total_ms === null || !isWhole
      ? []
      : [{ kernel_name, kind, runs: runs.length, total_ms }];
  });
}

/** Regions that no shown region contains; their kernels include those of inner regions. */
function outermost(regions: readonly RegionModelEntry[]): readonly RegionModelEntry[] {
  const found: RegionModelEntry[] = [];
  for (const region of regions) {
    const last = found.at(-1);
    if (last === undefined || !isInside(region, last)) found.push(region);
  }
  return found;
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
