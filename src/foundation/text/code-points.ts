/** The order of texts by code points. */

/** Python's order of strings, by code points; JavaScript compares UTF-16 units. */
export function byCodePoint(left: string, right: string): number {
  if (left === right) return 0;
  const a = [...left];
  const b = [...right];
  const firstDifference = a.findIndex((char, index) => char !== b[index]);
  if (firstDifference === -1) return -1;
  return (a[firstDifference]?.codePointAt(0) ?? 0) - (b[firstDifference]?.codePointAt(0) ?? -1);
}
