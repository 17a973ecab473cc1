/** Command lines declared as data: parsing, checks, help and completion are derived from it. */
import { ConfigError } from "../../engine/values/errors.ts";

/** One command: `deep-profile compare`, `hydraconf sweep wait`. */
export interface CommandLine {
  /** The name as users type it. */
  readonly name: string;
  readonly takes: Positionals;
  /** Sentences below the usage line; lines are not wrapped. */
  readonly about: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Text below the options: examples, exit codes. */
  readonly epilogue?: string;
}

/** The arguments that are no options. */
export interface Positionals {
  /** Their name in the usage line, e.g. `FILE...`. */
  readonly shown: string;
  /** Their description in errors, after "expected", e.g. `two runs or reports`. */
  readonly expected: string;
  /** Their least number; by default none. */
  readonly least?: number;
  readonly most?: number;
}

export const NO_POSITIONALS: Positionals = { shown: "", expected: "options only", most: 0 };

/** One option of a command. */
export interface CommandOption {
  /** The short name without the dash: one letter, or two as in some flags of Hydra. */
  readonly short?: string;
  /** The placeholder of the value, e.g. `DIR`; absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Whether it may be given several times; otherwise the last one counts. */
  readonly repeatable?: boolean;
  /** A switch such as `--version` that takes effect whatever else is on the line. */
  readonly alone?: boolean;
  /** One line or several; the default belongs here. */
  readonly help: string;
}

const HELP: CommandOption = { short: "h", alone: true, help: "print this help" };

/** All options of a command. A Map, so that members of `Object` are not taken for options. */
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

/** `-o, --output DIR`; long names are aligned. */
function labelOf(name: string, { short, value, choices }: CommandOption, letters: number): string {
  const shown = choices?.join("|") ?? value;
  const alias = (short === undefined ? "" : `-${short}, `).padEnd(letters + 3);
  return `${alias}--${name}${shown === undefined ? "" : ` ${shown}`}`;
}

/** The error of a wrong command line. */
export const usage = (message: string, hint?: string): ConfigError =>
  new ConfigError({ code: "app.usage", message, hint });

/** The text that a command prints for a wrong command line: two lines. */
export function usageText(command: string, { details }: ConfigError): string {
  const { message, nearest, hint } = details;
  const meant = nearest === undefined ? "" : ` (did you mean ${nearest}?)`;
  return [
    `${command}: error: ${message}${meant}`,
    `  ${hint ?? `${command} --help shows what it takes`}`,
    "",
  ].join("\n");
}
