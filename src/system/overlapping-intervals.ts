/** A piece of work on a machine, from and until when, in milliseconds of that machine's time of day. */
export interface HostInterval {
  readonly host: string;
  readonly from: number;
  /** Infinity where it has not ended. */
  readonly until: number;
}

/** Those that were on their machine at the same time as another one, in their order. */
export function overlappingIntervals<T extends HostInterval>(stays: readonly T[]): readonly T[] {
  const found = new Set<T>();
  const latest = new Map<string, T>();
  for (const stay of stays.toSorted((a, b) => a.from - b.from)) {
    const before = latest.get(stay.host);
    if (before !== undefined && stay.from < before.until) found.add(before).add(stay);
    if (before === undefined || stay.until > before.until) latest.set(stay.host, stay);
  }
  return stays.filter((stay) => found.has(stay));
}
