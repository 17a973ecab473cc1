/** The member of a set that has one; null of any other. */
export function onlyOne<T>(values: ReadonlySet<T>): T | null {
  const [only] = values;
  return values.size === 1 && only !== undefined ? only : null;
}
