/** The command line of a command, declared as data: parsed, checked, explained and completed from it. */
import { ConfigError } from "../values/errors.ts";

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

/** The text of `COMMAND --help`. */
export function commandHelp(line: CommandLine): string {
  const options = [...optionsOf(line)];
  const dashes = Math.max(...options.map(([, { short = "" }]) => short.length));
  const rows = options.map(([name, option]) => ({
    label: labelOf(name, option, dashes),
    help: option.repeatable === true ? `${option.help} (repeatable)` : option.help,
  }));
  const width = Math.min(MAX_LABEL, Math.max(...rows.map(({ label }) => label.length)));
  const indent = " ".repeat(width + 4);
  const lines = rows.map(({ label, help }) => {
    const text = help.replaceAll("\n", `\n${indent}`);
    return label.length > width
      ? `  ${label}\n${indent}${text}`
      : `  ${label.padEnd(width)}  ${text}`;
  });
  return `${[
    `Usage: ${line.name} [options] ${line.takes.shown}`.trimEnd(),
    line.about,
    `Options:\n${lines.join("\n")}`,
    ...(line.epilogue === undefined ? [] : [line.epilogue]),
  ].join("\n\n")}\n`;
}

const MAX_LABEL = 34;

/** `-o, --output DIR`; long names stand below each other. */
function labelOf(name: string, { short, value, choices }: CommandOption, letters: number): string {
  const shown = choices?.join("|") ?? value;
  const alias = (short === undefined ? "" : `-${short}, `).padEnd(letters + 3);
  return `${alias}--${name}${shown === undefined ? "" : ` ${shown}`}`;
}

/** A wrong command line. */
export const usage = (message: string, hint?: string): ConfigError =>
  new ConfigError({ code: "app.usage", message, hint });

/** What a command prints about a wrong command line: two lines. */
export function usageText(command: string, { details }: ConfigError): string {
  const { message, nearest, hint } = details;
  const meant = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
  return [
    `${command}: error: ${message}${meant}`,
    `  ${hint ?? `${command} --help shows what it takes`}`,
    "",
  ].join("\n");
}
