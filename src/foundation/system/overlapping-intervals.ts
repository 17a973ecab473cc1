/** A period of work on a host, in milliseconds of that host's clock. */
export interface HostInterval {
  readonly host: string;
  readonly from: number;
  /** Infinity while the work goes on. */
  readonly until: number;
}

/** The intervals that overlap another one on the same host, in their order. */
export function overlappingIntervals<T extends HostInterval>(
  intervals: readonly T[],
): readonly T[] {
  const found = new Set<T>();
  const latest = new Map<string, T>();
  for (const interval of intervals.toSorted((a, b) => a.from - b.from)) {
    const previous = latest.get(interval.host);
    if (previous !== undefined && interval.from < previous.until) found.add(previous).add(interval);
    if (previous === undefined || interval.until > previous.until)
      latest.set(interval.host, interval);
  }
  return intervals.filter((interval) => found.has(interval));
}
