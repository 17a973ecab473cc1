/** Paths of regions in little room. Must not import Node modules: the scripts of pages import it, too. */

/** East Asian scripts and emoji, about twice as wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{3fffd}]/u;

const widthOf = (characters: readonly string[]): number =>
  characters.reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);

/**
 * Shortens a path to a number of characters of normal width. The end is kept, because it distinguishes
 * regions, as long as the whole label fits.
 */
export function shortenPath(
  { label, path }: { readonly label: string; readonly path: string },
  most: number,
): string {
  if (widthOf([...path]) <= most) return path;
  const name = [...label];
  if (widthOf(name) >= most) return `${longestStart(name, most - 1).join("")}…`;
  return `…${longestStart([...path].reverse(), most - 1)
    .reverse()
    .join("")}`;
}

function longestStart(characters: readonly string[], most: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += widthOf([character]);
    return used > most;
  });
  return characters.slice(0, end < 0 ? characters.length : end);
}
