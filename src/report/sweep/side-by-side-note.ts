const MOST_NAMES = 8;

/** Says of jobs with a time that they ran beside others; none for none. */
export function sideBySideNote(jobs: readonly string[]): readonly string[] {
  if (jobs.length === 0) return [];
  const first = jobs.slice(0, MOST_NAMES);
  const more = jobs.length - first.length;
  const [plural, them] =
    jobs.length === 1 ? ["", "its time includes"] : ["s", "their times include"];
  return [
    `job${plural} ${listed(more > 0 ? [...first, `${more} more`] : first)} ran while another job of the sweep did, on the same machine: ${them} what that cost. ` +
      "Compare jobs that ran alone: hydra.launcher.n_jobs=1, or a node for each on Slurm",
  ];
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
