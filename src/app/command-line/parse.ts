/** Parses the command line of a subcommand as it is declared. */
import yargs from "yargs";
import { ConfigError, nearest } from "../../engine/values/errors.ts";
import { splitAtEquals } from "../../foundation/text/shell-words.ts";
import { type CommandLine, type CommandOption, optionsOf, usage } from "./command-line.ts";

/** A parsed command line. */
export interface ParsedCommand {
  readonly positionals: readonly string[];
  /** The positionals after `--`, where options are not recognised. */
  readonly verbatim: readonly string[];
  has(option: string): boolean;
  /** The last given value. */
  value(option: string): string | undefined;
  values(option: string): readonly string[];
  /** The last given value, which is one of `choices`, the choices that the option was declared with. */
  choice<T extends string, D>(option: string, choices: readonly T[], fallback: D): T | D;
  /** @throws ConfigError `app.usage` unless it is an integer above zero */
  count(option: string): number | null;
}

/**
 * Parses a command line as declared. A request for help takes effect whatever else is wrong.
 * @throws ConfigError `app.usage`
 */
export function parseCommandLine(line: CommandLine, args: readonly string[]): ParsedCommand {
  const options = optionsOf(line);
  const words = readWords(args, options);
  const alone = [...words.optionTexts.keys()].find((name) => options.get(name)?.alone === true);
  const positionals = [...words.operands, ...words.verbatim];
  if (alone === undefined) {
    checkOptions(words, options, args);
    checkPositionals(line, positionals);
  }
  const valuesOf = (name: string): readonly string[] | undefined =>
    alone === undefined || alone === name ? words.optionTexts.get(name) : undefined;
  return {
    positionals,
    verbatim: words.verbatim,
    has: (name) => valuesOf(name) !== undefined,
    value: (name) => valuesOf(name)?.at(-1),
    values: (name) => valuesOf(name) ?? [],
    choice: (name, choices, fallback) =>
      choices.find((choice) => choice === valuesOf(name)?.at(-1)) ?? fallback,
    count(name) {
      const text = valuesOf(name)?.at(-1);
      if (text === undefined) return null;
      if (!/^[1-9]\d{0,8}$/.test(text))
        throw usage(`--${name}: '${text}' is not a whole number above zero`);
      return Number(text);
    },
  };
}

type Options = ReadonlyMap<string, CommandOption>;

/** A command line split into options and words, before any check. */
interface Words {
  /** Values by the names of options; the value of a switch is `true`. */
  readonly optionTexts: ReadonlyMap<string, readonly string[]>;
  /** The words before `--`, unknown options included. */
  readonly operands: readonly string[];
  readonly verbatim: readonly string[];
  /** An option without its value. */
  readonly unfinished: string | undefined;
}

function readWords(args: readonly string[], options: Options): Words {
  const declared = [...options].map(([name, { short, value }]) => {
    const alias = short !== undefined && { alias: short };
    return [name, { ...alias, ...(value === undefined ? SWITCH : VALUE) }] as const;
  });
  let unfinished: string | undefined;
  const {
    _,
    $0,
    "--": verbatim = [],
    ...optionTexts
  } = yargs(separated(args, options))
    .help(false)
    .version(false)
    .exitProcess(false)
    .parserConfiguration({
      "boolean-negation": false,
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "parse-positional-numbers": false,
      "populate--": true,
      // Short names may have two letters, as in Hydra (`-cp DIR`).
      "short-option-groups": false,
      "strip-aliased": true,
      // Otherwise `--pattern -[0-9]+` would be read as two options.
      "unknown-options-as-args": true,
    })
    .updateStrings({ "Not enough arguments following: %s": "%s" })
    .fail((option) => {
      unfinished = option;
    })
    .options(Object.fromEntries(declared))
    .parseSync() as Parsed;
  return {
    optionTexts: new Map(
      Object.entries(optionTexts).map(([name, found]) => [name, [found].flat().map(String)]),
    ),
    operands: _.map(String),
    verbatim: verbatim.map(String),
    unfinished,
  };
}

const SWITCH = { type: "boolean" } as const;
const VALUE = { type: "string", nargs: 1 } as const;

/** The result of yargs. */
interface Parsed {
  readonly _: readonly (string | number)[];
  readonly "--"?: readonly (string | number)[];
  readonly $0: string;
  readonly [option: string]: unknown;
}

/**
 * Rewrites `-oDIR` as `--output=DIR`, because yargs accepts a value directly after a short option only if it does not
 * begin with a letter.
 */
function separated(args: readonly string[], options: Options): readonly string[] {
  const dashes = args.includes("--") ? args.indexOf("--") : args.length;
  const names = new Set([...options].flatMap(([name, { short = name }]) => [name, short]));
  const letters = new Map(
    [...options].flatMap(([name, { short, value }]) =>
      value === undefined || short?.length !== 1 ? [] : [[short, name]],
    ),
  );
  return args.map((word, index) => {
    const name = word.startsWith("-") ? letters.get(word.charAt(1)) : undefined;
    const isWhole = names.has(splitAtEquals(word)[0].slice(1));
    return name === undefined || isWhole || index >= dashes ? word : `--${name}=${word.slice(2)}`;
  });
}

function checkOptions(
  { optionTexts, operands, unfinished }: Words,
  options: Options,
  args: readonly string[],
): void {
  const [unknown] = operands.filter((word) => /^-./.test(word));
  if (unknown !== undefined) throw unknownOption(splitAtEquals(unknown)[0], options);
  for (const [name, values] of optionTexts) {
    const option = options.get(name);
    if (option === undefined) throw unknownOption(typedAs(name, args), options);
    for (const value of values) checkValue(name, option, value);
  }
  const lacking = [...options].find(([name, { short = name }]) =>
    [name, short].includes(unfinished ?? ""),
  );
  if (lacking !== undefined) throw needsValue(...lacking);
}

/** The word as typed, `-qv`, for the key `qv`. */
const typedAs = (name: string, args: readonly string[]): string =>
  args.map((word) => splitAtEquals(word)[0]).find((word) => word.replace(/^--?/, "") === name) ??
  `--${name}`;

function checkValue(name: string, option: CommandOption, value: string): void {
  const { choices } = option;
  // yargs turns any value of a switch other than `true` into false.
  if (option.value === undefined && value !== "true") throw usage(`--${name} takes no value`);
  if (value === "") throw needsValue(name, option);
  if (choices === undefined || choices.includes(value)) return;
  throw new ConfigError({
    code: "app.usage",
    message: `--${name}: '${value}' is not one of ${choices.join(", ")}`,
    // Another version is no misspelt one.
    nearest: /^[\d.]+$/.test(value) ? undefined : nearest(value, choices),
  });
}

const needsValue = (name: string, { value = "" }: CommandOption): ConfigError =>
  usage(`--${name} needs a value: ${value}`);

function unknownOption(typed: string, options: Options): ConfigError {
  const near = nearest(typed.replace(/^-+/, ""), [...options.keys()]);
  return new ConfigError({
    code: "app.usage",
    message: `unknown option ${typed}`,
    ...(near === undefined
      ? { hint: `its options are ${[...options.keys()].map((name) => `--${name}`).join(", ")}` }
      : { nearest: `--${near}` }),
  });
}

/** @throws ConfigError `app.usage` for a wrong number of positionals */
export function checkPositionals(
  { name, takes }: CommandLine,
  positionals: readonly string[],
): void {
  const { shown, expected, least = 0, most = Number.POSITIVE_INFINITY } = takes;
  // An empty path would mean the current directory. It is hardly intended: usually a variable is not set.
  if (positionals.includes(""))
    throw usage(
      "an argument is empty",
      `usage: ${name} ${shown}; is a variable of your shell not set?`,
    );
  if (positionals.length >= least && positionals.length <= most) return;
  const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(", ");
  const instead =
    positionals.length > most
      ? `; unexpected: ${quoted(positionals.slice(most))}`
      : positionals.length > 0
        ? `, not only ${quoted(positionals)}`
        : "";
  throw usage(`expected ${expected}${instead}`, `usage: ${name} ${shown}`.trimEnd());
}
