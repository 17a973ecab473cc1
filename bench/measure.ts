/**
 * Median time in milliseconds of each function. They take turns, the first one last in every second
 * round, so that whatever else the machine does hits all of them alike; a quarter of the rounds comes
 * first, uncounted, for the compiler.
 *
 * @param time `cpuTimeOf` for work of this process: programs beside it do not count then
 */
export function measure<Name extends string, Result = unknown>(
  cases: Readonly<Record<Name, () => Result>>,
  rounds: number,
  time: (run: () => Result) => number = timeOf,
  summary: (times: readonly number[]) => number = median,
): Record<Name, number> {
  const names = Object.keys(cases) as Name[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  const warmUps = Math.ceil(rounds / 4);
  for (let round = -warmUps; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const elapsed = time(cases[name]);
      if (round >= 0) times.get(name)?.push(elapsed);
    }
  const entries = names.map((name) => [name, summary(times.get(name) ?? [])]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

/** The least of them: what a busy machine adds, and the collector of garbage, is no part of it. */
export const least = (times: readonly number[]): number => Math.min(...times);

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
