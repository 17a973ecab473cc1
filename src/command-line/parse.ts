import { ConfigError, nearest } from "../values/errors.ts";
import { type CommandLine, type CommandOption, optionsOf } from "./command-line.ts";
import { usage } from "./usage.ts";
import { type Word, wordsOf } from "./words.ts";

/** What was given of a command line. */
export interface ParsedCommand {
  readonly positionals: readonly string[];
  /** Those of them behind `--`, where nothing has a meaning of its own. */
  readonly verbatim: readonly string[];
  has(option: string): boolean;
  /** The last value given. */
  value(option: string): string | undefined;
  values(option: string): readonly string[];
  /** The last value, which is one of `choices`: those that the option was declared with. */
  choice<T extends string, D>(option: string, choices: readonly T[], fallback: D): T | D;
  /** @throws ConfigError `app.usage` unless it is a whole number above zero */
  count(option: string): number | null;
}

/**
 * Reads a command line as it is declared. Who asks for help gets it, whatever else is wrong.
 *
 * @throws ConfigError `app.usage`
 */
export function parseCommandLine(line: CommandLine, args: readonly string[]): ParsedCommand {
  const options = optionsOf(line);
  const words = wordsOf(args, options);
  const alone = words.find(
    (word) => word.kind === "option" && options.get(word.name)?.alone === true,
  );
  const given = new Map<string, string[]>();
  for (const word of alone === undefined ? words : [alone]) take(word, line, options, given);
  const found = words.filter((word) => word.kind === "positional");
  const positionals = found.map(({ text }) => text);
  if (alone === undefined) checkPositionals(line, positionals);
  return {
    positionals,
    verbatim: found.filter(({ isVerbatim }) => isVerbatim).map(({ text }) => text),
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

function take(
  word: Word,
  { name, takes }: CommandLine,
  options: ReadonlyMap<string, CommandOption>,
  given: Map<string, string[]>,
): void {
  switch (word.kind) {
    case "positional":
      // It would stand for the current directory, which nobody meant: mostly a variable is not set.
      if (word.text === "")
        throw usage(
          "an argument is empty",
          `usage: ${name} ${takes.shown}; is a variable of your shell not set?`,
        );
      return;
    case "unknown":
      throw unknownOption(word.typed, [...options.keys()]);
    case "option": {
      const option = options.get(word.name);
      if (option === undefined) throw unknownOption(word.typed, [...options.keys()]);
      const value = checkedValue(word.typed, option, word.value);
      given.set(word.name, [...(given.get(word.name) ?? []), value]);
    }
  }
}

/** @throws ConfigError `app.usage` unless there are as many as the command takes */
export function checkPositionals({ name, takes }: CommandLine, given: readonly string[]): void {
  const { shown, expected, least = 0, most = Number.POSITIVE_INFINITY } = takes;
  if (given.length >= least && given.length <= most) return;
  const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(", ");
  const instead =
    given.length > most
      ? `; unexpected: ${quoted(given.slice(most))}`
      : given.length > 0
        ? `, not only ${quoted(given)}`
        : "";
  throw usage(`expected ${expected}${instead}`, `usage: ${name} ${shown}`.trimEnd());
}

function checkedValue(typed: string, option: CommandOption, value: string | undefined): string {
  if (option.value === undefined) {
    if (value !== undefined) throw usage(`${typed} takes no value`);
    return "";
  }
  if (value === undefined || value === "") throw usage(`${typed} needs a value: ${option.value}`);
  if (option.choices !== undefined && !option.choices.includes(value)) {
    const near = nearest(value, option.choices);
    throw new ConfigError({
      code: "app.usage",
      message: `${typed}: '${value}' is not one of ${option.choices.join(", ")}`,
      nearest: near,
    });
  }
  return value;
}

function unknownOption(typed: string, known: readonly string[]): ConfigError {
  const near = nearest(typed.replace(/^-+/, ""), known);
  return new ConfigError({
    code: "app.usage",
    message: `unknown option ${typed}`,
    ...(near !== undefined && { nearest: `--${near}` }),
  });
}
