/** Several runs of one workload as one result: the middle run's numbers, and how all of them spread. */

import { regionKey } from "../../report/directory-name.ts";
import type { RegionRepeats, RepeatStatistics } from "../../report/document.ts";
import { medianRunNote } from "../../report/median-run-note.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import { agreeing, partOf, plural } from "../../text/plural.ts";
import type { RegionModel, RegionModelEntry, ScopeModel } from "../regions/model.ts";
import { repeatStatistics } from "./statistics.ts";

export interface AcrossRuns {
  /** Which of the runs is shown: the one whose time is the median. */
  readonly shown: number;
  readonly model: RegionModel;
}

/**
 * @param models of the runs, in the order in which they were made; at least one
 */
export function combineRuns(models: readonly RegionModel[]): AcrossRuns {
  const shown = middleRun(models);
  const model = models[shown];
  if (model === undefined) throw new Error("no run to combine");
  if (models.length === 1) return { shown, model };
  const [first, ...others] = model.scopes;
  if (first === undefined) return { shown, model };
  // Processes have other numbers in every run: only the report over all of them has counterparts.
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
  const found = new Map<string, RegionModelEntry[]>();
  for (const { regions } of runs)
    for (const region of regions) getOrCreate(found, regionKey(region), () => []).push(region);
  const regions = scope.regions.map((region) => ({
    ...region,
    repeats: repeatsOf(found.get(regionKey(region)) ?? [], runs.length),
  }));
  const all = regions.flatMap(({ repeats }) => repeats.wall_ms ?? repeats.total_ms ?? []);
  const unstable = all.filter(({ stable }) => !stable).length;
  const missing = [...found].filter(([, entries]) => entries.length < runs.length).length;
  return {
    ...scope,
    regions,
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

function repeatsOf(entries: readonly RegionModelEntry[], runs: number): RegionRepeats {
  const over = (of: (entry: RegionModelEntry) => number | null): RepeatStatistics | null => {
    const values = entries.map(of).filter((ns) => ns !== null);
    return values.length < runs ? null : repeatStatistics(values.map((ns) => ns / NS_PER_MS));
  };
  return {
    runs: entries.length,
    total_ms: over(({ kernelNs }) => kernelNs),
    wall_ms: over(({ wallNs }) => wallNs),
  };
}

const NS_PER_MS = 1e6;
