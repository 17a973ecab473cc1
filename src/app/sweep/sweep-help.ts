import type { SweepAction } from "./next-commands.ts";

/** What `hydraconf sweep --help` prints. */
export const HELP = `hydraconf sweep looks after the recorded sweep in DIR (hydra.sweep.dir), of any program.

  hydraconf sweep status DIR     how its jobs stand, a line each
  hydraconf sweep wait DIR       waits for its end, whoever runs it; Ctrl-C ends the waiting, not the sweep
  hydraconf sweep cancel DIR     ends what runs of it; what is done stays done, --resume runs the rest
  hydraconf sweep collect DIR    writes sweep.json, sweep.csv and sweep.md into DIR: a row per job

  hydraconf sweep ACTION --help  more about one of them
`;

/** The same of each action. */
export const DETAILS: Readonly<Record<SweepAction, string>> = {
  status: `usage: hydraconf sweep status [--json] DIR

Shows how the jobs of a sweep stand, also while it runs, and what runs it. Jobs record themselves what
becomes of them; jobs on Slurm that have not are asked about by squeue and scontrol. A job is 'missing'
if nobody is about to run it: --resume does.

      --json    the same as data
  -h, --help    print this help

Exit code: 0 all jobs are completed, 1 they are not, 2 wrong usage.
`,
  wait: `usage: hydraconf sweep wait [--timeout SECONDS] [--json] DIR

Waits until nothing of a sweep runs any more, and prints a line for each job that ends meanwhile, and for jobs
that Slurm holds, with what to do about it. Ctrl-C ends the waiting, not the sweep.

      --timeout SECONDS    wait no longer than that
      --json               at the end, print what 'status --json' does, and no lines before
  -h, --help               print this help

Exit code: the one that the sweep has in the foreground (0 all jobs are completed); 124 out of time,
130 Ctrl-C, 2 wrong usage.
`,
  cancel: `usage: hydraconf sweep cancel DIR

Ends all that runs of a sweep: the process that runs it, its workers, its jobs on Slurm. Each is asked to
end (SIGTERM, scancel) and killed 10 seconds later. Jobs that are done stay done; PROGRAM --resume DIR runs
those that were ended or never started. Where nothing runs, nothing happens.

  -h, --help    print this help

Exit code: 0 nothing of it runs any more, 1 something runs where it cannot be reached, 2 wrong usage.
`,
  collect: `usage: hydraconf sweep collect DIR

Writes what a sweep came to into its directory, as sweep.json, sweep.csv and sweep.md: a row per job, a
column for each key that overrides set and each field of the results. Also while it runs.

  -h, --help    print this help

Exit code: 0 written, 1 no sweep, 2 wrong usage.
`,
};
