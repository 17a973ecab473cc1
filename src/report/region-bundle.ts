import { type NamedRegion, regionKey } from "./directory-name.ts";
import type { NCUProfileRegion, NCUProfileRegionReport, RegionReportBundle } from "./document.ts";
import { startsAt } from "./region-path.ts";

/**
 * Makes bundles of single regions, each with its inner regions, from every report that has the
 * region. Their totals are those of the region, with nothing outside.
 */
export function createRegionBundler(
  bundle: RegionReportBundle,
): (region: NamedRegion) => RegionReportBundle {
  const indexed = bundle.reports.map((report) => ({
    report,
    places: new Map(report.regions.map((region, place) => [regionKey(region), place])),
  }));
  return (region) => ({
    contract: bundle.contract,
    reports: indexed.flatMap(({ report, places }) => {
      const place = places.get(regionKey(region));
      return place === undefined ? [] : [cut(report, place)];
    }),
  });
}

function cut(report: NCUProfileRegionReport, place: number): NCUProfileRegionReport {
  const regions = subtree(report.regions, place);
  const total_ms = timeOfAll(regions);
  return {
    ...report,
    regions,
    totals: {
      region_count: regions.filter(({ kind }) => kind !== "outside").length,
      invocations: regions.reduce((sum, { invocations }) => sum + invocations, 0),
      kernel_count: largest(regions.map(({ kernel_count }) => kernel_count)),
      total_ms,
      outside_ms: total_ms === null ? null : 0,
      outside_kernel_count: 0,
      wall_ms: null,
    },
  };
}

/**
 * The kernels of these regions, each once. The top region has them all where ranges nest; where a
 * range outlived the one around it, or shares its path with one of another kind, it does not.
 */
function timeOfAll(regions: readonly NCUProfileRegion[]): number | null {
  const known = regions.filter(({ total_ms }) => total_ms !== null);
  if (known.length === 0) return null;
  const exclusive = known.reduce((sum, { exclusive_ms }) => sum + (exclusive_ms ?? 0), 0);
  return Math.max(exclusive, largest(known.map(({ total_ms }) => total_ms ?? 0)));
}

/** The largest of non-negative numbers; there can be more than fit into the arguments of `Math.max`. */
const largest = (numbers: readonly number[]): number =>
  numbers.reduce((most, number) => Math.max(most, number), 0);

/** A region and those inside it. Reports are in depth-first order, so these follow directly. */
function subtree(regions: readonly NCUProfileRegion[], place: number): readonly NCUProfileRegion[] {
  const top = regions[place];
  if (top === undefined) return [];
  const found = [top];
  for (let at = place + 1; at < regions.length; at++) {
    const region = regions[at];
    if (region === undefined || !startsAt(region, top)) break;
    // A region of another kind can have the same path; it is beside this one, not inside.
    if (region.path.length > top.path.length) found.push(region);
  }
  return found;
}
