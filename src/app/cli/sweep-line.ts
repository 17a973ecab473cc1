/** The command line of `hydraconf sweep`. */
import { ConfigError, nearest } from "../../engine/values/errors.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import {
  type CommandLine,
  type CommandOption,
  commandHelp,
  usage,
} from "../command-line/command-line.ts";
import { checkPositionals, type ParsedCommand, parseCommandLine } from "../command-line/parse.ts";
import { portOf } from "../command-line/port.ts";
import { JOB_STATUSES, type SweepJobStatus } from "../job/job.ts";
import { SWEEP_ACTIONS, type SweepAction } from "../record/next-commands.ts";
import { DIRECTIONS, type Direction } from "../sweep/sweepers/objective.ts";

/** A request to `hydraconf sweep`: a help text, or an action. */
export type SweepRequest =
  | { readonly help: string }
  | {
      readonly help: null;
      readonly action: SweepAction;
      /** As typed. */
      readonly directory: string;
      /** The directories of the other sweeps to compare, as typed. */
      readonly others: readonly string[];
      readonly json: boolean;
      /** Whether to show all jobs, however many there are. */
      readonly all: boolean;
      /** The statuses of the jobs to show; undefined for any. */
      readonly only: readonly SweepJobStatus[] | undefined;
      /** Milliseconds. */
      readonly timeout: number | undefined;
      /** The keys of the numbers that jobs are judged by; undefined for those of the sweep's settings. */
      readonly objective: readonly string[] | undefined;
      /** Undefined for those of the sweep's settings. */
      readonly directions: readonly Direction[] | undefined;
      /** The swept keys that only tell repetitions apart. */
      readonly averageOver: readonly string[];
      /** The file for a page, as typed. */
      readonly page: string | undefined;
      /** Zero for any that is free. */
      readonly port: number;
      /** The named settings file. */
      readonly settings: string | undefined;
    };

const ACTIONS = Object.keys(SWEEP_ACTIONS) as readonly SweepAction[];

/** @throws ConfigError `app.usage` */
export function parseSweepLine(args: readonly string[]): SweepRequest {
  const parsed = parseCommandLine(SWEEP_LINE, args);
  const [word, ...names] = parsed.positionals;
  const named = ACTIONS.find((action) => action === word);
  if (parsed.has("help"))
    return { help: commandHelp(named === undefined ? SWEEP_LINE : ACTION_LINES[named]) };
  const action = named ?? refuseAction(word, names);
  refuseOptionsOfOthers(action, parsed);
  // Checked before the directory, which may have been read as the value of `--timeout`.
  const timeout = milliseconds(parsed.value("timeout"));
  checkPositionals(ACTION_LINES[action], names);
  return {
    help: null,
    action,
    directory: names[0] ?? "",
    others: names.slice(1),
    json: parsed.has("json"),
    all: parsed.has("all"),
    only: statuses(parsed.value("only")),
    timeout,
    objective: words(parsed.value("objective")),
    directions: directionsOf(parsed.value("direction")),
    averageOver: words(parsed.value("average-over")) ?? [],
    page: parsed.value("page"),
    port: portOf(parsed.value("port"), "hydraconf sweep watch --port 8080 DIR"),
    settings: parsed.value("settings"),
  };
}

function refuseAction(word: string | undefined, others: readonly string[]): never {
  if (word === undefined) throw usage(`expected ${SWEEP_LINE.takes.expected}`, EACH_ACTION);
  const later = ACTIONS.find((action) => others.includes(action));
  if (later !== undefined)
    throw usage(
      `the action ${later} must come before the directory`,
      `hydraconf sweep ${later} ${shellQuote(word)}`,
    );
  const near = nearest(word, ACTIONS);
  throw new ConfigError({
    code: "app.usage",
    message: `expected an action, not '${word}'`,
    nearest: near,
    hint: EACH_ACTION,
  });
}

const EACH_ACTION = ACTIONS.map((name) => `hydraconf sweep ${name} DIR`).join(", ");

function refuseOptionsOfOthers(action: SweepAction, parsed: ParsedCommand): void {
  const takes = (action: SweepAction, option: string) =>
    Object.hasOwn(ACTION_LINES[action].options, option);
  for (const option of Object.keys(SWEEP_LINE.options)) {
    if (!parsed.has(option) || takes(action, option)) continue;
    const takers = inWords(ACTIONS.filter((action) => takes(action, option)));
    throw usage(`--${option} is an option of ${takers}, not of ${action}`);
  }
}

const inWords = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

function statuses(text: string | undefined): readonly SweepJobStatus[] | undefined {
  return text?.split(",").map((word) => {
    const status = JOB_STATUSES.find((candidate) => candidate === word.trim());
    if (status !== undefined) return status;
    throw new ConfigError({
      code: "app.usage",
      message: `--only: '${word}' is no status of a job`,
      nearest: nearest(word, JOB_STATUSES),
      hint: JOB_STATUSES.join(", "),
    });
  });
}

const words = (text: string | undefined): readonly string[] | undefined =>
  text?.split(",").map((word) => word.trim());

const directionsOf = (text: string | undefined): readonly Direction[] | undefined =>
  words(text)?.map((word) => {
    const direction = DIRECTIONS.find((candidate) => candidate === word);
    if (direction !== undefined) return direction;
    throw new ConfigError({
      code: "app.usage",
      message: `--direction: '${word}' is no direction`,
      nearest: nearest(word, DIRECTIONS),
      hint: `${DIRECTIONS.join(" or ")}, or several of them with commas`,
    });
  });

function milliseconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = text.trim() === "" ? Number.NaN : Number(text);
  if (seconds >= 0) return seconds * 1000;
  throw usage(
    `--timeout: '${text}' is not a number of seconds`,
    "e.g. hydraconf sweep wait --timeout 3600 DIR",
  );
}

// The command lines of `hydraconf sweep`.

const SETTINGS: Readonly<Record<string, CommandOption>> = {
  settings: { value: "FILE", help: "a settings file that names further plugins" },
};

const ONE_SWEEP = { shown: "DIR", expected: "the directory of one sweep", least: 1, most: 1 };
const SWEEPS = { shown: "DIR DIR...", expected: "the directories of two or more sweeps", least: 2 };

const lineOf = (
  action: SweepAction,
  about: string,
  options: Readonly<Record<string, CommandOption>>,
  exitCodes: string,
  takes: CommandLine["takes"] = ONE_SWEEP,
): CommandLine => ({
  name: `hydraconf sweep ${action}`,
  takes,
  about,
  options: { ...options, ...SETTINGS },
  epilogue: `Exit code: ${exitCodes}`,
});

/** By what jobs are judged. */
const JUDGEMENT: Readonly<Record<string, CommandOption>> = {
  objective: {
    value: "KEY",
    help: `the key of the number in what jobs return, or several: val.loss,seconds;
by default hydra.sweeper.objective`,
  },
  direction: {
    value: "DIRECTION",
    help: `minimize or maximize, or one for each key: minimize,maximize;
by default hydra.sweeper.direction, or minimize`,
  },
};

/** The command line of each action. */
const ACTION_LINES: Readonly<Record<SweepAction, CommandLine>> = {
  status: lineOf(
    "status",
    `Shows the state of each job of a sweep, also while it runs, and what runs it. Jobs record their own
state; a scheduler is asked about those that have not. A job is 'missing' if
nothing is about to run it: --resume does.`,
    {
      only: {
        value: "STATUS",
        help: `only jobs of this status, or of several: failed,running`,
      },
      all: { help: "each job; otherwise, of more than 50, those that failed or run" },
      json: { help: "print JSON" },
    },
    "0 all jobs are completed, 1 they are not, 2 wrong usage.",
  ),
  wait: lineOf(
    "wait",
    `Waits until nothing of a sweep runs any more. Prints a line for each job that ends meanwhile, and for
jobs that a scheduler holds, with what to do about it. Ctrl-C ends the waiting, not the sweep.`,
    {
      timeout: { value: "SECONDS", help: "wait at most this long" },
      json: { help: "print only what 'status --json' prints, at the end" },
    },
    `that of the sweep in the foreground (0 all jobs are completed); 124 out of time,
130 Ctrl-C, 2 wrong usage.`,
  ),
  cancel: lineOf(
    "cancel",
    `Ends everything that runs of a sweep: the process that runs it, its workers, its jobs in a scheduler. Each
is asked to end and killed 10 seconds later. Finished jobs are kept; PROGRAM --resume DIR
runs those that were ended or never started. If nothing runs, nothing happens.`,
    {},
    "0 nothing of it is running any more, 1 something that cannot be reached is still running, 2 wrong usage.",
  ),
  collect: lineOf(
    "collect",
    `Writes the results of a sweep into its directory, as sweep.json, sweep.csv and sweep.md: a row per job,
a column for each key that overrides set and each field of the results; and as a page, sweep.html, unless
hydra.sweep.page is false. Works while the sweep runs, too.`,
    {},
    "0 written, 1 no sweep, 2 wrong usage.",
  ),
  best: lineOf(
    "best",
    `Shows the best job of a search, or of any sweep whose jobs return numbers, with the command line that runs it
again. With several directions: all jobs that no other is better than. What ran several times is judged by its mean.
Works while the sweep runs, too.`,
    {
      ...JUDGEMENT,
      "average-over": {
        value: "KEY",
        help: "swept keys that only repeat jobs: seed",
      },
      json: { help: "print JSON" },
    },
    "0 there is a best job, 1 there is none, or no sweep, 2 wrong usage.",
  ),
  watch: lineOf(
    "watch",
    `Shows the page of a sweep in a browser of this machine while the sweep runs: prints its address, which no
other machine can reach, and ends with the sweep. Ctrl-C ends the watching, not the sweep.`,
    { port: { value: "PORT", help: "a fixed port, e.g. for ssh -L; by default any that is free" } },
    "0 the sweep is over, 1 no sweep, or the port is in use, 130 Ctrl-C, 2 wrong usage.",
  ),
  compare: lineOf(
    "compare",
    `Compares sweeps: their jobs, the best of each, and the jobs with the same overrides in the first and another
sweep. All are judged by the settings of the first. Works while they run, too.`,
    {
      ...JUDGEMENT,
      page: { value: "FILE", help: "write a page with all of them, as sweep.html is one of each" },
      json: { help: "print JSON" },
    },
    "0 compared, 1 no sweep, or no job with a number, 2 wrong usage.",
    SWEEPS,
  ),
};

/** The line of all actions together, for words before the action, and for shell completion. */
export const SWEEP_LINE: CommandLine & { readonly actions: typeof SWEEP_ACTIONS } = {
  name: "hydraconf sweep",
  takes: { shown: "ACTION DIR...", expected: "an action and the directory of a sweep" },
  about: `Manages the recorded sweep in DIR (hydra.sweep.dir), of any program.

  hydraconf sweep status DIR     shows the state of each job
  hydraconf sweep wait DIR       waits for the end of the sweep; Ctrl-C ends the waiting, not the sweep
  hydraconf sweep cancel DIR     ends its running jobs; finished ones are kept, --resume runs the rest
  hydraconf sweep collect DIR    writes sweep.json, .csv, .md and .html into DIR: a row per job
  hydraconf sweep best DIR       shows its best jobs, with the command lines that run them again
  hydraconf sweep watch DIR      shows its page in a browser while it runs
  hydraconf sweep compare A B    compares sweeps, and writes a page with all of them

  hydraconf sweep ACTION --help  more about one of them`,
  actions: SWEEP_ACTIONS,
  options: {
    json: { help: "of status, wait, best and compare: print JSON" },
    only: { value: "STATUS", help: "of status: only jobs of this status, e.g. failed,running" },
    all: { help: "of status: each job, also of many" },
    timeout: { value: "SECONDS", help: "of wait: wait at most this long" },
    objective: {
      value: "KEY",
      help: "of best and compare: the key of the number in what jobs return",
    },
    direction: { value: "DIRECTION", help: "of best and compare: minimize or maximize" },
    "average-over": { value: "KEY", help: "of best: swept keys that only repeat jobs" },
    page: { value: "FILE", help: "of compare: write a page with all of them" },
    port: { value: "PORT", help: "of watch: a fixed port" },
    ...SETTINGS,
  },
};
