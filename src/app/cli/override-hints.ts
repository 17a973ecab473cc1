/** Hints for refused overrides and flags that only the program's own command line and schema can give. */

import { type Advice, NO_EQUALS, saying, use } from "../../engine/overrides/hints.ts";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { splitKey } from "../../engine/values/key-path.ts";
import { getAt } from "../../engine/values/node.ts";
import { shellCommand, splitAtEquals } from "../../foundation/text/shell-words.ts";
import { argumentHint, closedMap } from "../job/argument-hint.ts";
import type { Composer } from "../job/composer.ts";
import type { Flag, ProgramOptions } from "../job/options.ts";
import {
  type DashedValue,
  dashedValues,
  flagIn,
  overrideOf,
  parseArgv,
  WITHOUT_DASHES,
  withoutDashes,
} from "./arguments/parse-argv.ts";
import { ONE_KEY } from "./show-explanation.ts";

/**
 * Adds a hint to the error about an argument without `=`: it may be a flag without its dashes (`help`, `cfg job`), or
 * an override typed as two words (`lr 0.3`, `lr = 0.3`). Other errors are returned unchanged.
 */
export function hintMistypedArgument(
  error: unknown,
  argv: readonly string[],
  flags: readonly Flag[],
): unknown {
  if (!isConfigError(error) || error.code !== "override.syntax") return error;
  const { hint, origin } = error.details;
  if (origin?.kind !== "override" || !/^[A-Za-z_][\w.,-]*$/.test(origin.text)) return error;
  const word = origin.text;
  if (argv.some((other) => flagIn(other, flags)?.flag.id === "explain"))
    return advised(error, saying(`--explain takes one key: ${ONE_KEY}`));
  const previous = argv[argv.indexOf(word) - 1];
  const glued = flags.find(
    ({ gluedOnly, names, takes }) =>
      gluedOnly === true && takes === "optional-value" && names.some((name) => name === previous),
  );
  if (glued !== undefined)
    return advised(error, saying(`the value of ${previous} follows an '=': ${previous}=${word}`));
  if (word.includes(",")) return error;
  const next = argv[argv.indexOf(word) + 1] ?? "";
  if (DELETING.test(word) && /^[A-Za-z_][\w.]*$/.test(next))
    return advised(error, saying(`to delete a key, use ~${next}`));
  const isFlag = flags.some(({ names }) => names.includes(`--${word}`));
  // Other hints have a remedy already.
  const isOpen = hint === undefined || hint === NO_EQUALS;
  const written = isOpen ? asOverride(word, wordsOf(argv, flags)) : undefined;
  const meant = isFlag ? `; the flag is --${word}` : written;
  return meant === undefined ? error : advised(error, saying(`${hint ?? ""}${meant}`));
}

/** The overrides of a line, and what is none. */
const wordsOf = (argv: readonly string[], flags: readonly Flag[]): readonly string[] => {
  const { overrides, rest = [] } = parseArgv(argv, flags);
  return [...overrides, ...rest];
};

const advised = ({ details }: ConfigError, advice: Advice): ConfigError =>
  new ConfigError({ ...details, ...advice });

/** Says of a flag that only a subcommand has which one that is. Other errors are returned unchanged. */
export async function hintFlagOfSubcommand(
  error: ConfigError,
  { name, subcommands = [] }: Pick<ProgramOptions, "name" | "subcommands">,
  argv: readonly string[],
  ofProgram: readonly Flag[],
): Promise<ConfigError> {
  const end = argv.indexOf("--");
  const words = end < 0 ? argv : argv.slice(0, end);
  const named = (flags: readonly Flag[], word: string) =>
    flags.some(({ names }) => names.some((each) => word === each || word.startsWith(`${each}=`)));
  for (const { name: subcommand, programFlags } of subcommands) {
    const flags = (await programFlags?.()) ?? [];
    const word = words.find((each) => named(flags, each) && !named(ofProgram, each));
    if (word === undefined) continue;
    const isGlued = flags.some(
      ({ gluedOnly, names }) => gluedOnly === true && names.includes(word),
    );
    const next = words[words.indexOf(word) + 1];
    // Its value is no argument of its own.
    const hasValue = isGlued && next !== undefined && /^[A-Za-z_][\w.,]*$/.test(next);
    const typed = hasValue ? argv.toSpliced(words.indexOf(word), 2, `${word}=${next}`) : argv;
    const line = shellCommand([name, subcommand, ...typed]);
    const { nearest: _, ...details } = error.details;
    return new ConfigError({
      ...details,
      hint: `${splitAtEquals(word)[0]} belongs to '${name} ${subcommand}': ${line}${end < 0 ? " -- PROG ARG..." : ""}`,
    });
  }
  return error;
}

/**
 * The error about values of the config that are written as flags, with overrides that the config takes: `optimizer.lr=0.1` for
 * `--lr 0.1`, and `fast=true` for `--fast`. Other errors are returned unchanged.
 *
 * @param openedBy makes the composer for a line
 */
export async function hintDashedValues(
  error: ConfigError,
  options: ProgramOptions,
  argv: readonly string[],
  { flags, openedBy }: DashedLine,
): Promise<ConfigError> {
  const { hint = WITHOUT_DASHES, message } = error.details;
  if (!message.startsWith("unrecognized arguments: ") || !hint.startsWith(WITHOUT_DASHES))
    return error;
  const dashed = dashedValues(argv, flags);
  const replaced = new Set(
    dashed.flatMap(({ index, length }) => [index, ...(length === 2 ? [index + 1] : [])]),
  );
  const line = argv.filter((_, index) => !replaced.has(index));
  try {
    const composer = await openedBy(line);
    composer.hide(dashed.map(overrideOf));
    const { overrides } = parseArgv(line, flags);
    const found = writtenFor(dashed, composer, { overrides, options });
    if (found === undefined) return error;
    return new ConfigError({
      ...error.details,
      nearest: undefined,
      hint: withoutDashes(found, flags),
    });
  } catch (refusal) {
    // The rest of the line has mistakes of its own.
    if (isConfigError(refusal)) return error;
    throw refusal;
  }
}

interface DashedLine {
  readonly flags: readonly Flag[];
  readonly openedBy: (words: readonly string[]) => Promise<Pick<Composer, "compose" | "hide">>;
}

/**
 * The overrides for values that are written as flags, each as the config takes it; undefined if the first is similar to a flag,
 * and no key of the config.
 *
 * @throws ConfigError if the other overrides cannot be composed
 */
function writtenFor(
  dashed: readonly DashedValue[],
  { compose }: Pick<Composer, "compose">,
  {
    options,
    overrides,
  }: { readonly options: ProgramOptions; readonly overrides: readonly string[] },
): readonly string[] | undefined {
  const composed = (further: readonly string[]) =>
    compose([...overrides, ...further], { mode: "multirun" });
  const { config, dialect } = composed([]);
  const nodeAt = (key: string) => getAt(config, splitKey(key, dialect));
  const isSwitch = (key: string): boolean => {
    const node = nodeAt(key);
    return node?.kind === "scalar" && typeof node.value === "boolean";
  };
  const isFlag = ({ key, mayBeFlag }: DashedValue) => mayBeFlag && nodeAt(key) === undefined;
  const [first] = dashed;
  if (first === undefined || isFlag(first)) return undefined;
  return dashed.flatMap((each) => {
    if (isFlag(each)) return [];
    const { key, value } = each;
    if (value === undefined) {
      const [, negated = ""] = /^no-(.+)$/.exec(key) ?? [];
      if (isSwitch(key)) return `${key}=true`;
      return isSwitch(negated) ? `${negated}=false` : overrideOf(each);
    }
    let written = overrideOf(each);
    for (let round = 0; round < MOST_ROUNDS; round++) {
      try {
        composed([written]);
        return written;
      } catch (error) {
        const remedy = omitAppendHint(error, options);
        if (!isConfigError(remedy)) throw remedy;
        const [proposal] = remedy.details.proposals ?? [];
        if (proposal === undefined) break;
        written = proposal;
      }
    }
    return overrideOf(each);
  });
}

/** What is proposed for an override may be refused in its turn. */
const MOST_ROUNDS = 3;

/** Commands of other languages. */
const DELETING = /^(?:del|delete|rm|remove|unset)$/;

/** The key with the word after it, which may be `0.3`, `= 0.3` or `=0.3`, and further ones of this kind. */
function asOverride(word: string, argv: readonly string[]): string | undefined {
  const written: string[] = [];
  for (let index = argv.indexOf(word); index < argv.length; index++) {
    const [key = "", next = "", last = ""] = argv.slice(index);
    const isKey = written.length === 0 || /^[A-Za-z_][\w./@]*$/.test(key);
    const value = next === "=" ? last : next.replace(/^=/, "");
    if (!isKey || value === "" || /^-(?![\d.])|=/.test(value)) {
      if (written.length === 0) return undefined;
      continue;
    }
    written.push(`${key}=${value}`);
    index += next === "=" ? 2 : 1;
  }
  return `: ${shellCommand(written)}`;
}

/**
 * Changes the error about an override of an unknown key: the hint to append the key is omitted if the program's schema
 * would refuse it. Other errors are returned unchanged.
 */
export function omitAppendHint(error: unknown, options: ProgramOptions): unknown {
  if (!isUnknownKey(error)) return error;
  const { name } = options;
  const { details, message } = error;
  const { hint = "", key = "", nearest, origin, proposals = [] } = details;
  const closed = closedMap(options, key);
  const isSweep = error.code === "override.sweep_not_allowed";
  if (closed === undefined || origin?.kind !== "override") return error;
  const [place, help] =
    closed.length === 0
      ? ["the config", "--help"]
      : [`'${closed.join(".")}'`, `--help ${closed.join(".")}`];
  const forArguments = argumentHint(options, { key, override: origin.text });
  const rest = forArguments === undefined ? "" : `; ${forArguments}`;
  // In a job of a sweep, they have the whole sweep.
  const changing = proposals.filter((override) => !addsKey(override));
  const [first = `${nearest}${origin.text.slice(key.length)}`] = changing;
  const isMeant = nearest !== undefined || (isSweep && changing.length > 0);
  const advice = isSweep
    ? { hint: hint.replace(/, or .* to add the key/, ""), proposals: changing }
    : use(first);
  return new ConfigError({
    ...details,
    message: message
      .split("\n")
      .filter((line) => !line.startsWith("To append to your config"))
      .join("\n"),
    ...(isMeant
      ? advice
      : saying(`${place} accepts no other keys; '${name} ${help}' lists its keys${rest}`)),
  });
}

/** Whether an override adds a key, or replaces what has some; of a zip, whether a column does. */
const addsKey = (override: string): boolean =>
  (/^[^=]*=zip\(/.test(override) ? /[(,]\+[A-Za-z_]/ : /^\+|^[^=]*:=/).test(override);

/** The error for a key that could be appended without a schema. A hint about a group is kept. */
const isUnknownKey = (error: unknown): error is ConfigError =>
  isConfigError(error) &&
  error.details.hint?.startsWith("to choose") !== true &&
  (error.code === "override.sweep_not_allowed"
    ? error.details.proposals?.some(addsKey) === true
    : error.code === "compose.override_failed" &&
      isConfigError(error.details.cause) &&
      error.details.cause.code === "value.struct");

/** Changes the error about a sweep in a tool, which has none: it does not name the flag that starts one. */
export function omitMultirun(error: unknown, { name }: ProgramOptions): unknown {
  if (!isConfigError(error) || error.code !== "override.sweep_not_allowed") return error;
  const { message, origin } = error.details;
  const lines = message.split("\n").filter((line) => !line.includes("--multirun"));
  const text = origin?.kind === "override" ? origin.text : "";
  return new ConfigError({
    ...error.details,
    message: lines.length > 0 ? lines.join("\n") : `'${text}' is a sweep`,
    ...saying(`${name} has no sweeps: assign one value`),
  });
}
