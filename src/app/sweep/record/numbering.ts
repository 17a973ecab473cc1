import type { ManifestJob } from "./manifest.ts";

/** What number a job of a sweep that goes on has. */
export interface JobNumber {
  readonly number: number;
  /** Not there for a job that the sweep has never had. */
  readonly recorded?: ManifestJob;
}

/** Gives the jobs of a sweep that goes on the numbers that they had when it was recorded. */
export interface Numbering {
  /**
   * A job goes by its overrides: the one that stood at the same place, else another one with the same overrides,
   * else it is new and gets a number that none has had. So a job stays itself, with its directory and its result, when
   * a search asks for others than it did at first.
   *
   * @param place of the job in the sweep, from 0
   * @param overrides of the task
   */
  numberOf(place: number, overrides: readonly string[]): JobNumber;
  /** The recorded job at a place, unless it has its number again. */
  displacedAt(place: number): ManifestJob | undefined;
  /** The jobs that nobody has asked for again so far. */
  leftOver(): readonly ManifestJob[];
}

export function createNumbering(before: readonly ManifestJob[]): Numbering {
  const given = new Set<number>();
  const byOverrides = new Map<string, ManifestJob[]>();
  for (const job of before) {
    const key = keyOf(job.task_overrides);
    byOverrides.set(key, [...(byOverrides.get(key) ?? []), job]);
  }
  let next = before.reduce((most, { number }) => Math.max(most, number), -1) + 1;
  return {
    numberOf(place, overrides) {
      const key = keyOf(overrides);
      const same = (byOverrides.get(key) ?? []).filter(({ number }) => !given.has(number));
      const recorded = same.find((job) => job === before[place]) ?? same[0];
      const number = recorded?.number ?? next++;
      given.add(number);
      return recorded === undefined ? { number } : { number, recorded };
    },
    displacedAt: (place) => {
      const job = before[place];
      return job !== undefined && !given.has(job.number) ? job : undefined;
    },
    leftOver: () => before.filter(({ number }) => !given.has(number)),
  };
}

const keyOf = (overrides: readonly string[]): string => JSON.stringify(overrides);
