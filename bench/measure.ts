/**
 * Median time in milliseconds of each function. They take turns, so that whatever else the machine
 * does hits all of them alike; a quarter of the rounds comes first, uncounted, for the compiler.
 */
export function measure<Name extends string>(
  cases: Readonly<Record<Name, () => unknown>>,
  rounds: number,
): Record<Name, number> {
  const names = Object.keys(cases) as Name[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  const warmUps = Math.ceil(rounds / 4);
  for (let round = -warmUps; round < rounds; round++)
    for (const name of names) {
      const elapsed = timeOf(cases[name]);
      if (round >= 0) times.get(name)?.push(elapsed);
    }
  const entries = names.map((name) => [name, median(times.get(name) ?? [])]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

/** Milliseconds of one call. */
export function timeOf(run: () => unknown): number {
  const started = performance.now();
  run();
  return performance.now() - started;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

/** Milliseconds of CPU that one call takes: other programs of a busy machine do not count. */
export function cpuTimeOf(run: () => unknown): number {
  const started = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}
