import type { NCUProfileRegion } from "./document.ts";

/**
 * The indices of the largest values, largest first, equal values in order. Usually only a few of millions are
 * wanted, so only those indices are sorted.
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

/** The largest regions, in document order. A region that contains one of them is at least as large, so it stays, too. */
export function largestRegions(
  regions: readonly NCUProfileRegion[],
  count: number,
  sizeOf: (region: NCUProfileRegion) => number,
): readonly NCUProfileRegion[] {
  if (regions.length <= count) return regions;
  const kept = new Set(placesOfLargest(regions.map(sizeOf), count));
  return regions.filter((_, place) => kept.has(place));
}
