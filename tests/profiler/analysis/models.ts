/** Region models of sketched processes. */
import { buildRegionModel, type RegionOptions } from "../../../src/profiler/analysis/build.ts";
import type { RegionModelEntry } from "../../../src/profiler/analysis/region-model.ts";
import { type ProcessSketch, timelineOf } from "./timelines.ts";

/**
 * The reports of these processes by scope, without the bucket outside all ranges where only time passed in it: what
 * it says is tested with the span of runs.
 */
export function scopesOf(processes: readonly ProcessSketch[], options?: RegionOptions) {
  const { scopes } = buildRegionModel(timelineOf(processes), options);
  return new Map(
    scopes.map((scope) => [
      scope.scope as string,
      { ...scope, regions: scope.regions.filter(didSomething) },
    ]),
  );
}

export const didSomething = ({ kind, kernelCount, activities }: RegionModelEntry): boolean =>
  kind !== "outside" || kernelCount > 0 || (activities?.size ?? 0) > 0;

/** The report of a process as the only one. */
export function aggregateOf(sketch: ProcessSketch, options?: RegionOptions) {
  const scope = scopesOf([sketch], options).get("aggregate");
  if (scope === undefined) throw new Error("no aggregate");
  return scope;
}

/** Paths, joined. */
export const tree = (regions: readonly RegionModelEntry[]) =>
  regions.map(({ path }) => path.join("/"));

export const regionAt = (sketch: ProcessSketch, path: string): RegionModelEntry => {
  const found = aggregateOf(sketch).regions.find((region) => region.path.join("/") === path);
  if (found === undefined) throw new Error(`no region ${path}`);
  return found;
};
