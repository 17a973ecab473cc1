import type { NCUProfileRegion } from "./document.ts";

/**
 * Places of the largest values, largest first, equal ones in order. Of millions only a few are wanted, as
 * a rule: those alone are sorted as places.
 */
export function placesOfLargest(values: readonly number[], count: number): readonly number[] {
  const places: number[] = [];
  if (count < values.length) {
    const sorted = Float64Array.from(values).sort();
    const least = sorted[values.length - count] ?? Number.POSITIVE_INFINITY;
    for (const [place, value] of values.entries()) if (value >= least) places.push(place);
  } else for (const place of values.keys()) places.push(place);
  places.sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  return places.slice(0, count);
}

/** The largest regions in document order: those around a region are at least as large, and stay. */
export function largestRegions(
  regions: readonly NCUProfileRegion[],
  count: number,
  sizeOf: (region: NCUProfileRegion) => number,
): readonly NCUProfileRegion[] {
  if (regions.length <= count) return regions;
  const kept = new Set(placesOfLargest(regions.map(sizeOf), count));
  return regions.filter((_, place) => kept.has(place));
}
