/**
 * What a reader must not have to find out from numbers that are zero or not there. Told once per
 * report, whatever collector it is of.
 */

import { pathLines } from "../../report/region-path.ts";
import { firstFewOf, partOf, plural } from "../../text/plural.ts";
import type { RegionModel, RegionModelEntry, ScopeModel } from "./model.ts";

export function dataNotes(scope: ScopeModel, { collector }: RegionModel): readonly string[] {
  const regions = scope.regions.filter(({ kind }) => kind !== "outside");
  const names = namesIn(scope.regions);
  return [
    ...kindNotes(scope),
    ...(collector === "ncu" ? withoutCounters(regions, names) : freeRunNotes(scope)),
    ...emptyNotes(regions, scope, names),
    ...ownNotes(regions, names),
  ];
}

const hasKernels = ({ totals: { kernelCount, kernelKinds } }: ScopeModel): boolean =>
  kernelCount > 0 && kernelKinds.includes("gpu_kernel");

function kindNotes({ totals: { kernelKinds } }: ScopeModel): readonly string[] {
  if (!kernelKinds.includes("cpu_operation")) return [];
  return kernelKinds.includes("gpu_kernel")
    ? ["the kernel lists hold GPU kernels and CPU operations; each record has its kind"]
    : ["no kernels were recorded on a GPU: the kernel lists hold CPU operations instead"];
}

/** The recorder and nsys leave the GPU as it is. */
const freeRunNotes = (scope: ScopeModel): readonly string[] =>
  hasKernels(scope)
    ? [
        "GPU clocks are not locked by this collector: times vary with temperature, power and other load; it reads no hardware counters (pipeline.ncu.enable=true does both)",
      ]
    : [];

function withoutCounters(regions: readonly RegionModelEntry[], names: NamesOf): readonly string[] {
  const without = regions.filter(({ metrics }) => (metrics?.size ?? 0) === 0);
  if (without.length === 0) return [];
  return [
    `no hardware counter has a value in ${partOf(without.length, regions.length, "region")}: ${names(without)}`,
  ];
}

/** Ranges that were measured as a whole have time without kernels: that is no lack. */
function emptyNotes(
  regions: readonly RegionModelEntry[],
  { totals }: ScopeModel,
  names: NamesOf,
): readonly string[] {
  if (totals.kernelCount === 0) return [];
  const empty = regions.filter(({ kernelCount }) => kernelCount === 0);
  if (empty.length === 0) return [];
  const what =
    totals.kernelKinds.length > 1
      ? "GPU kernel or CPU operation"
      : totals.kernelKinds.includes("gpu_kernel")
        ? "GPU kernel"
        : "CPU operation";
  return [`no ${what} ran in ${partOf(empty.length, regions.length, "region")}: ${names(empty)}`];
}

function ownNotes(regions: readonly RegionModelEntry[], names: NamesOf): readonly string[] {
  const noted = regions.filter(({ notes }) => notes.length > 0);
  if (noted.length === 0) return [];
  const who = plural(noted.length, "region has its", "regions have their");
  return [`${who} own notes in the reports: ${names(noted)}`];
}

const MAX_NAMES = 5;
const MAX_NAME = 60;

/** The first few of some regions in words. */
type NamesOf = (regions: readonly RegionModelEntry[]) => string;

/** Labels come from the program, of any length. */
function namesIn(all: readonly RegionModelEntry[]): NamesOf {
  const lineOf = pathLines(all);
  const nameOf = (region: RegionModelEntry) => {
    const text = lineOf(region);
    return text.length > MAX_NAME ? `…${text.slice(-MAX_NAME)}` : text;
  };
  return (regions) => firstFewOf(regions, MAX_NAMES, nameOf);
}
