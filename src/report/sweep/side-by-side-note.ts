import { firstFew } from "../../text/plural.ts";

const MOST_NAMES = 8;

/** Says of jobs with a time that they ran beside others; none for none. */
export function sideBySideNote(jobs: readonly string[]): readonly string[] {
  if (jobs.length === 0) return [];
  const [plural, them] =
    jobs.length === 1 ? ["", "its time includes"] : ["s", "their times include"];
  return [
    `job${plural} ${named(jobs)} ran while another job of the sweep did, on the same machine: ${them} what that cost. ` +
      "Compare jobs that ran alone: hydra.launcher.n_jobs=1, or a node for each on Slurm",
  ];
}

const named = (jobs: readonly string[]): string =>
  jobs.length < 2 || jobs.length > MOST_NAMES + 1
    ? firstFew(jobs, MOST_NAMES)
    : `${jobs.slice(0, -1).join(", ")} and ${jobs.at(-1)}`;
