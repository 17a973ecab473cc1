/** The items in random order (Fisher and Yates). `random` yields numbers in [0, 1). */
export function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const out = [...items];
  for (let last = out.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const [a, b] = [out[last], out[other]];
    if (a === undefined || b === undefined) continue;
    out[last] = b;
    out[other] = a;
  }
  return out;
}
