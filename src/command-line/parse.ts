import { splitAtEquals } from "../text/shell-words.ts";
import { ConfigError, nearest } from "../values/errors.ts";
import { type CommandLine, type CommandOption, optionsOf, usage } from "./command-line.ts";

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

/** What a part of a command line is. */
type Word =
  | { readonly kind: "positional"; readonly text: string; readonly isVerbatim: boolean }
  | {
      readonly kind: "option";
      readonly name: string;
      /** As it was typed, for errors: `-o`, `--output`. */
      readonly typed: string;
      /** Undefined where none was given. */
      readonly value?: string;
    }
  | { readonly kind: "unknown"; readonly typed: string };

type Options = ReadonlyMap<string, CommandOption>;

/**
 * Takes a command line apart: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, `-nm` for two switches, short
 * options of two letters. `node:util` does not know the latter, and takes an option for the value of the one before.
 */
function wordsOf(args: readonly string[], options: Options): readonly Word[] {
  const dashes = args.indexOf("--");
  const own = dashes < 0 ? args : args.slice(0, dashes);
  const verbatim = dashes < 0 ? [] : args.slice(dashes + 1);
  const words: Word[] = [];
  for (let index = 0; index < own.length; index++) {
    const found = readWord(own[index] ?? "", options);
    const last = found.at(-1);
    const next = own[index + 1];
    const isOpen =
      last?.kind === "option" && last.value === undefined && takesValue(last.name, options);
    // A forgotten value must not swallow the option behind it.
    if (isOpen && next !== undefined && !isOption(next, options)) {
      words.push(...found.slice(0, -1), { ...last, value: next });
      index++;
    } else words.push(...found);
  }
  return [...words, ...verbatim.map((text) => positional(text, true))];
}

const positional = (text: string, isVerbatim: boolean): Word => ({
  kind: "positional",
  text,
  isVerbatim,
});

const takesValue = (name: string, options: Options): boolean =>
  options.get(name)?.value !== undefined;

/** Whether a word is an option that there is. Of others nobody knows: `-[0-9]+` may be a pattern. */
const isOption = (word: string, options: Options): boolean =>
  readWord(word, options).every(
    (part) =>
      part.kind === "option" && (takesValue(part.name, options) || part.value === undefined),
  );

function readWord(word: string, options: Options): readonly Word[] {
  if (!word.startsWith("-") || word === "-") return [positional(word, false)];
  const [typed, value] = splitAtEquals(word);
  const name = word.startsWith("--") ? typed.slice(2) : nameOf(typed.slice(1), options);
  if (name !== undefined && options.has(name))
    return [{ kind: "option", name, typed, ...(value !== undefined && { value }) }];
  const isLong = word.startsWith("--") || options.has(typed.slice(1));
  return isLong ? [{ kind: "unknown", typed }] : readLetters(word, options);
}

const nameOf = (short: string, options: Options): string | undefined =>
  [...options].find(([, option]) => option.short === short)?.[0];

/** `-qo DIR`, `-oDIR`: letters of switches, then one of an option with a value. */
function readLetters(word: string, options: Options): readonly Word[] {
  const words: Word[] = [];
  for (let at = 1; at < word.length; at++) {
    const typed = `-${word[at]}`;
    const name = nameOf(word[at] ?? "", options);
    // The whole word: `-verbos` is no row of letters.
    if (name === undefined) return [{ kind: "unknown", typed: word }];
    const rest = word.slice(at + 1).replace(/^=/, "");
    if (takesValue(name, options))
      return [...words, { kind: "option", name, typed, ...(rest !== "" && { value: rest }) }];
    words.push({ kind: "option", name, typed });
  }
  return words;
}
