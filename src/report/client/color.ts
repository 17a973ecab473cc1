/** One colour per name, the same in every chart of a page and on every page. */
export function hueOf(name: string): number {
  let hash = 2166136261;
  for (let at = 0; at < name.length; at++)
    hash = Math.imul(hash ^ name.charCodeAt(at), 16777619) >>> 0;
  return hash % 360;
}

/** Hues as distinguishable as this many can be; the first is the color of links. */
export const hueOfCurve = (index: number, count: number): number =>
  Math.round(210 + (index * 360) / Math.max(1, count)) % 360;
