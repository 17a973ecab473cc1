/** The command line of a subcommand, declared as data: parsed, checked and explained from it. */
import { parseArgs } from "node:util";
import { ConfigError } from "../../values/errors.ts";
import { nearest } from "../../values/nearest.ts";

export interface CommandLine {
  readonly name: string;
  /** E.g. `FILE...`. */
  readonly positionals: string;
  /** Sentences below the usage line; lines are not wrapped. */
  readonly about: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Below the options: examples, exit codes. */
  readonly epilogue?: string;
}

export interface CommandOption {
  readonly short?: string;
  /** What stands for the value, e.g. `DIR`; absent: a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly repeatable?: boolean;
  /** One line or several; the default belongs here. */
  readonly help: string;
}

export interface ParsedCommand {
  readonly positionals: readonly string[];
  has(option: string): boolean;
  /** The last value given. */
  value(option: string): string | undefined;
  values(option: string): readonly string[];
  /** The last value, which is one of `choices`: those that the option was declared with. */
  choice<T extends string, D>(option: string, choices: readonly T[], fallback: D): T | D;
  /** @throws ConfigError `app.usage` unless it is a whole number above zero */
  count(option: string): number | null;
}

const HELP: CommandOption = { short: "h", help: "print this help" };

/** @throws ConfigError `app.usage` */
export function parseCommandLine(line: CommandLine, args: readonly string[]): ParsedCommand {
  const options = { ...line.options, help: HELP };
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { short, value }]) => [
        name,
        { type: value === undefined ? "boolean" : "string", ...(short && { short }) } as const,
      ]),
    ),
    // Strict parsing words its errors in its own way, without what would have been right.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(namedValue(token.value, line));
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name)
      ? options[token.name as keyof typeof options]
      : undefined;
    if (option === undefined) throw unknownOption(token.rawName, Object.keys(options));
    const value = checkedValue(token.rawName, option, token.value);
    given.set(token.name, [...(given.get(token.name) ?? []), value]);
  }
  return {
    positionals,
    has: (name) => given.has(name),
    value: (name) => given.get(name)?.at(-1),
    values: (name) => given.get(name) ?? [],
    choice: (name, choices, fallback) =>
      choices.find((choice) => choice === given.get(name)?.at(-1)) ?? fallback,
    count(name) {
      const text = given.get(name)?.at(-1);
      if (text === undefined) return null;
      if (!/^[1-9]\d{0,8}$/.test(text))
        throw usage(`--${name}: '${text}' is not a whole number above zero`);
      return Number(text);
    },
  };
}

/** An empty name would stand for the current directory, which nobody meant: mostly a variable is not set. */
function namedValue(value: string, { name, positionals }: CommandLine): string {
  if (value !== "") return value;
  throw usage(
    "an argument is empty",
    `${name} takes ${positionals}; is a variable of your shell not set?`,
  );
}

function checkedValue(name: string, option: CommandOption, value: string | undefined): string {
  if (option.value === undefined) {
    if (value !== undefined) throw usage(`${name} takes no value`);
    return "";
  }
  if (value === undefined || value === "") throw usage(`${name} needs a value: ${option.value}`);
  if (option.choices !== undefined && !option.choices.includes(value)) {
    const near = nearest(value, option.choices);
    throw new ConfigError({
      code: "app.usage",
      message: `${name}: '${value}' is not one of ${option.choices.join(", ")}`,
      ...(near !== undefined && { nearest: near }),
    });
  }
  return value;
}

function unknownOption(name: string, known: readonly string[]): ConfigError {
  const near = nearest(name.replace(/^-+/, ""), known);
  return new ConfigError({
    code: "app.usage",
    message: `unknown option ${name}`,
    ...(near !== undefined && { nearest: `--${near}` }),
  });
}

export const usage = (message: string, hint?: string): ConfigError =>
  new ConfigError({ code: "app.usage", message, ...(hint !== undefined && { hint }) });

/** The text of `deep-profile NAME --help`. */
export function commandHelp(line: CommandLine): string {
  const rows = Object.entries({ ...line.options, help: HELP }).map(([name, option]) => {
    const { short, value, choices, repeatable, help } = option as CommandOption;
    const shown = choices?.join("|") ?? value;
    const label = `${short === undefined ? "    " : `-${short}, `}--${name}${shown === undefined ? "" : ` ${shown}`}`;
    return { label, help: repeatable === true ? `${help} (repeatable)` : help };
  });
  const width = Math.min(MAX_LABEL, Math.max(...rows.map(({ label }) => label.length)));
  const indent = " ".repeat(width + 4);
  const lines = rows.map(({ label, help }) => {
    const text = help.replaceAll("\n", `\n${indent}`);
    return label.length > width
      ? `  ${label}\n${indent}${text}`
      : `  ${label.padEnd(width)}  ${text}`;
  });
  return `${[
    `Usage: deep-profile ${line.name} [options] ${line.positionals}`.trimEnd(),
    line.about,
    `Options:\n${lines.join("\n")}`,
    ...(line.epilogue === undefined ? [] : [line.epilogue]),
  ].join("\n\n")}\n`;
}

const MAX_LABEL = 34;
