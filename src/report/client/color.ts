/** One colour per name, the same in every chart of a page and on every page. */
export function hueOf(name: string): number {
  let hash = 2166136261;
  for (let at = 0; at < name.length; at++)
    hash = Math.imul(hash ^ name.charCodeAt(at), 16777619) >>> 0;
  return hash % 360;
}
