/** The command lines of `hydraconf sweep`. */
import type { CommandLine, CommandOption } from "../../command-line/command-line.ts";
import { SWEEP_ACTIONS, type SweepAction } from "./next-commands.ts";

const lineOf = (
  action: SweepAction,
  about: string,
  options: Readonly<Record<string, CommandOption>>,
  exitCodes: string,
): CommandLine => ({
  name: `hydraconf sweep ${action}`,
  takes: { shown: "DIR", expected: "the directory of one sweep", least: 1, most: 1 },
  about,
  options,
  epilogue: `Exit code: ${exitCodes}`,
});

/** One for each action. */
export const ACTION_LINES: Readonly<Record<SweepAction, CommandLine>> = {
  status: lineOf(
    "status",
    `Shows the state of each job of a sweep, also while it runs, and what runs it. Jobs record their own
state; jobs on Slurm that have not are looked up with squeue and scontrol. A job is 'missing' if
nothing is about to run it: --resume does.`,
    { json: { help: "print JSON" } },
    "0 all jobs are completed, 1 they are not, 2 wrong usage.",
  ),
  wait: lineOf(
    "wait",
    `Waits until nothing of a sweep runs any more. Prints a line for each job that ends meanwhile, and for
jobs that Slurm holds, with what to do about it. Ctrl-C ends the waiting, not the sweep.`,
    {
      timeout: { value: "SECONDS", help: "wait at most this long" },
      json: { help: "print only what 'status --json' prints, at the end" },
    },
    `that of the sweep in the foreground (0 all jobs are completed); 124 out of time,
130 Ctrl-C, 2 wrong usage.`,
  ),
  cancel: lineOf(
    "cancel",
    `Ends everything that runs of a sweep: the process that runs it, its workers, its jobs on Slurm. Each is
asked to end (SIGTERM, scancel) and killed 10 seconds later. Finished jobs are kept; PROGRAM --resume DIR
runs those that were ended or never started. If nothing runs, nothing happens.`,
    {},
    "0 nothing of it is running any more, 1 something that cannot be reached is still running, 2 wrong usage.",
  ),
  collect: lineOf(
    "collect",
    `Writes the results of a sweep into its directory, as sweep.json, sweep.csv and sweep.md: a row per job,
a column for each key that overrides set and each field of the results. Works while the sweep runs, too.`,
    {},
    "0 written, 1 no sweep, 2 wrong usage.",
  ),
};

/** All of them together, for what stands before the action, and for shell completion. */
export const SWEEP_LINE: CommandLine & { readonly actions: typeof SWEEP_ACTIONS } = {
  name: "hydraconf sweep",
  takes: { shown: "ACTION DIR", expected: "an action and the directory of a sweep" },
  about: `Manages the recorded sweep in DIR (hydra.sweep.dir), of any program.

  hydraconf sweep status DIR     shows the state of each job
  hydraconf sweep wait DIR       waits for the end of the sweep; Ctrl-C ends the waiting, not the sweep
  hydraconf sweep cancel DIR     ends its running jobs; finished ones are kept, --resume runs the rest
  hydraconf sweep collect DIR    writes sweep.json, sweep.csv and sweep.md into DIR: a row per job

  hydraconf sweep ACTION --help  more about one of them`,
  actions: SWEEP_ACTIONS,
  options: {
    json: { help: "of status and wait: print JSON" },
    timeout: { value: "SECONDS", help: "of wait: wait at most this long" },
  },
};
