/** The only member of a set; null if it has none or several. */
export function onlyOne<T>(values: ReadonlySet<T>): T | null {
  const [only] = values;
  return values.size === 1 && only !== undefined ? only : null;
}
