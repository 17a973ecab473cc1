import { type Attempt, readJobState } from "./job-state.ts";

/**
 * The numbers of jobs whose last attempt ran on a machine while that of another job ran there, by their records: what
 * was measured in them is not what they take alone.
 *
 * @param folder the sweep's `.sweep` folder
 */
export function jobsSideBySide(
  folder: string,
  jobs: readonly { readonly number: number }[],
): readonly number[] {
  const byHost = new Map<string, Stay[]>();
  for (const { number } of jobs) {
    const last = readJobState(folder, number)?.attempts.at(-1);
    if (last === undefined) continue;
    const stays = byHost.get(last.host) ?? [];
    byHost.set(last.host, stays);
    stays.push(stayOf(number, last));
  }
  const found = new Set([...byHost.values()].flatMap(overlapping));
  return jobs.map(({ number }) => number).filter((number) => found.has(number));
}

/** A job on its machine, from and until when, by that machine's time of day. */
interface Stay {
  readonly number: number;
  readonly from: number;
  readonly until: number;
}

const stayOf = (number: number, { ended, started }: Attempt): Stay => ({
  number,
  from: Date.parse(started),
  until: ended === null ? Number.POSITIVE_INFINITY : Date.parse(ended),
});

function overlapping(stays: readonly Stay[]): readonly number[] {
  const found: number[] = [];
  let latest: Stay | undefined;
  for (const stay of stays.toSorted((a, b) => a.from - b.from)) {
    if (latest !== undefined && stay.from < latest.until) found.push(latest.number, stay.number);
    if (latest === undefined || stay.until > latest.until) latest = stay;
  }
  return found;
}
