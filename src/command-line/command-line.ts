/** The command line of a command, declared as data: parsed, checked, explained and completed from it. */

/** One command: `deep-profile compare`, `hydraconf sweep wait`. */
export interface CommandLine {
  /** As it is typed. */
  readonly name: string;
  readonly takes: Positionals;
  /** Sentences below the usage line; lines are not wrapped. */
  readonly about: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Below the options: examples, exit codes. */
  readonly epilogue?: string;
}

/** The arguments that are no options. */
export interface Positionals {
  /** In the usage line, e.g. `FILE...`. */
  readonly shown: string;
  /** In errors, after "expected", e.g. `two runs or reports`. */
  readonly expected: string;
  /** How many; by default none. */
  readonly least?: number;
  readonly most?: number;
}

export const NO_POSITIONALS: Positionals = { shown: "", expected: "options only", most: 0 };

/** One option of a command. */
export interface CommandOption {
  /** Without the dash: a letter or, as Hydra has them, two. */
  readonly short?: string;
  /** What stands for the value, e.g. `DIR`; absent: a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** May be given several times; of any other option the last one counts. */
  readonly repeatable?: boolean;
  /** A switch that is answered by itself, whatever else is on the line: `--version`. */
  readonly alone?: boolean;
  /** One line or several; the default belongs here. */
  readonly help: string;
}

export const HELP: CommandOption = { short: "h", alone: true, help: "print this help" };

/** All that a command takes; none of them is called like a member of `Object`. */
export const optionsOf = (line: CommandLine): ReadonlyMap<string, CommandOption> =>
  new Map(Object.entries({ ...line.options, help: HELP }));
