/**
 * Whether two values have the same JSON text, including the order of keys. The text is not built, because
 * reports can have hundreds of megabytes of it.
 *
 * @param except keys of these two objects (not of nested ones) to ignore
 */
export function equalJson(a: unknown, b: unknown, except: readonly string[] = []): boolean {
  if (typeof a === "object" && a !== null && typeof b === "object" && b !== null) {
    if (a === b) return true;
    if (Array.isArray(a) || Array.isArray(b))
      return (
        Array.isArray(a) &&
        Array.isArray(b) &&
        a.length === b.length &&
        a.every((element, index) => equalJson(element, b[index]))
      );
    const inA = membersOf(a, except);
    const inB = membersOf(b, except);
    return (
      inA.length === inB.length &&
      inA.every(([key, value], index) => {
        const [other, against] = inB[index] ?? [];
        return key === other && equalJson(value, against);
      })
    );
  }
  return a === b || JSON.stringify([a]) === JSON.stringify([b]);
}

/** The members that JSON keeps. */
const membersOf = (value: object, except: readonly string[]): readonly [string, unknown][] =>
  Object.entries(value).filter(
    ([key, member]) =>
      !except.includes(key) && member !== undefined && typeof member !== "function",
  );
