import { type HostInterval, overlappingIntervals } from "../../../system/overlapping-intervals.ts";
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
  const stays = jobs.flatMap(({ number }) => {
    const last = readJobState(folder, number)?.attempts.at(-1);
    return last === undefined ? [] : [{ number, ...stayOf(last) }];
  });
  return overlappingIntervals(stays).map(({ number }) => number);
}

const stayOf = ({ ended, host, started }: Attempt): HostInterval => ({
  host,
  from: Date.parse(started),
  until: ended === null ? Number.POSITIVE_INFINITY : Date.parse(ended),
});
