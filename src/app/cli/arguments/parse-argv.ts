/** Parses a command line as argparse does in Hydra: flags anywhere between overrides. */
import { ConfigError, nearest } from "../../../engine/values/errors.ts";
import { pyRepr } from "../../../engine/values/python-text.ts";
import { shellCommand, splitAtEquals } from "../../../foundation/text/shell-words.ts";
import { type Flag, flagLabel } from "../../job/options.ts";
import type { ParsedArguments } from "../../job/session.ts";
import { HYDRA_FLAGS } from "./hydra-flags.ts";

/**
 * Parses a command line like argparse in Hydra: `--flag value`, `--flag=value`, prefixes of long flags that are unique
 * among Hydra's or among all flags, `-fvalue`, `-fg` for two flags without values, short flags of two letters. argparse
 * expects all overrides in one run; here they may be anywhere.
 *
 * No library does this: yargs splits `-cn`, knows no prefixes, and has usage errors of its own.
 *
 * @throws ConfigError `app.usage` in argparse's words.
 */
export function parseArgv(argv: readonly string[], flags: readonly Flag[]): ParsedArguments {
  const values = new Map<string, string | true>();
  const overrides: string[] = [];
  const more: string[] = [];
  let ownWords = overrides;
  let hasUnknown = false;
  /** The words that argparse's error lists as unrecognized, including overrides after the first run. */
  const unrecognizedWords: string[] = [];
  const apart: string[] = [];
  let isFirstRun = true;
  const dashes = argv.indexOf("--");
  const words = dashes < 0 ? argv : argv.slice(0, dashes);
  // All words are distinguished first: one that could be several flags is refused before any flag acts.
  const matches = words.map((word) => matchFlag(word, flags));

  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    const matched = matches[index] ?? "override";
    if (matched === "override") {
      ownWords.push(word);
      if (!isFirstRun) {
        apart.push(word);
        unrecognizedWords.push(word);
      }
    } else if (matched === "unknown") {
      isFirstRun &&= overrides.length === 0;
      hasUnknown = true;
      unrecognizedWords.push(word);
    } else {
      isFirstRun &&= overrides.length === 0;
      if (matched.flag.takes === "overrides") ownWords = more;
      const next = words[index + 1];
      const mayTakeNext = matches[index + 1] === "override";
      const taken = readFlag(matched, mayTakeNext ? next : undefined, flags);
      for (const [id, value] of taken.values) values.set(id, value);
      if (taken.tookNext) index++;
      if (matched.flag.final === true) return { flags: values, overrides };
    }
  }
  if (hasUnknown) throw unrecognized(words, matches, unrecognizedWords, flags);
  return {
    flags: values,
    overrides,
    ...(apart.length > 0 && { apart }),
    ...(ownWords === more && { more }),
    ...(dashes >= 0 && { rest: argv.slice(dashes + 1) }),
  };
}

/**
 * As argparse's `parse_intermixed_args`, with which Hydra 1.4 reads a line: the words behind the first `--` are overrides if one stands
 * before it. Otherwise it means nothing, and a second one does.
 *
 * @throws ConfigError as `parseArgv`
 */
export function parseIntermixed(argv: readonly string[], flags: readonly Flag[]): ParsedArguments {
  const first = parseArgv(argv, flags);
  if (first.rest === undefined) return first;
  const dashes = argv.indexOf("--");
  const { rest = [], ...parsed } =
    first.overrides.length > 0 ? first : parseArgv(argv.toSpliced(dashes, 1), flags);
  return { ...parsed, overrides: [...parsed.overrides, ...rest] };
}

/** A word recognised as a flag, and the value attached to it, if any. */
export interface FlagMatch {
  readonly flag: Flag;
  /** The flag's name as written in the word, which may be a prefix. */
  readonly name: string;
  readonly glued?: string;
}

type WordMatch = FlagMatch | "override" | "unknown";

function matchFlag(word: string, flags: readonly Flag[]): WordMatch {
  if (!word.startsWith("-") || word === "-") return "override";
  const exact = byName(word, flags);
  if (exact !== undefined) return { flag: exact, name: word };
  const [name, glued] = splitAtEquals(word);
  if (glued !== undefined) {
    const flag = byName(name, flags);
    if (flag !== undefined) return { flag, name, glued };
  }
  const candidates = word.startsWith("--")
    ? preferHydras(longPrefixes(name, glued, flags))
    : shortForms(word, flags);
  const [first] = candidates;
  if (candidates.length > 1)
    throw usage(
      `ambiguous option: ${word} could match ${candidates.map((c) => c.name).join(", ")}`,
    );
  if (first !== undefined) return first;
  if (/^-\d+$|^-\d*\.\d+$/.test(word) || word.includes(" ")) return "override";
  return "unknown";
}

/** The flag that a word stands for, and the value attached to it; undefined for overrides and ambiguous words. */
export function flagIn(word: string, flags: readonly Flag[]): FlagMatch | undefined {
  try {
    const matched = matchFlag(word, flags);
    return typeof matched === "string" ? undefined : matched;
  } catch {
    return undefined;
  }
}

function longPrefixes(
  prefix: string,
  glued: string | undefined,
  flags: readonly Flag[],
): FlagMatch[] {
  return flags.flatMap((flag) =>
    flag.names
      .filter((name) => name.startsWith(prefix))
      .map((name) => ({ flag, name, ...(glued !== undefined && { glued }) })),
  );
}

/** A prefix that is unique among Hydra's flags keeps its meaning, however many flags a program adds. */
function preferHydras(candidates: readonly FlagMatch[]): readonly FlagMatch[] {
  const hydras = candidates.filter(({ flag }) => HYDRA_FLAGS.includes(flag));
  return hydras.length === 1 ? hydras : candidates;
}

/** `-cjob` is `-c job`; `-s` is short for `-sc`. */
function shortForms(word: string, flags: readonly Flag[]): FlagMatch[] {
  const letter = word.slice(0, 2);
  return flags.flatMap((flag) =>
    flag.names.flatMap((name): FlagMatch[] => {
      if (name === letter) return [{ flag, name, glued: word.slice(2) }];
      return name.startsWith(word) ? [{ flag, name }] : [];
    }),
  );
}

interface FlagReading {
  readonly values: readonly (readonly [string, string | true])[];
  readonly tookNext: boolean;
}

function readFlag(match: FlagMatch, next: string | undefined, flags: readonly Flag[]): FlagReading {
  const { flag, glued } = match;
  if (flag.takes === "nothing" || flag.takes === "overrides")
    return readBareFlag(match, next, flags);
  const value = glued ?? (flag.gluedOnly === true ? undefined : next);
  if (value === undefined && flag.takes === "value")
    throw argumentError(flag, "expected one argument");
  const chosen = value ?? flag.valueIfBare ?? "";
  if (flag.choices !== undefined && !flag.choices.includes(chosen))
    throw argumentError(
      flag,
      `invalid choice: ${pyRepr(chosen)} (choose from ${flag.choices.map((c) => `'${c}'`).join(", ")})`,
      // Of versions none is meant by another.
      longMeant(match, flags) ?? (/^\d/.test(chosen) ? undefined : nearest(chosen, flag.choices)),
    );
  return { values: [[flag.id, chosen]], tookNext: glued === undefined && value !== undefined };
}

/** Text attached to a short flag without a value is the next short flag: `-rh`. */
function readBareFlag(
  match: FlagMatch,
  next: string | undefined,
  flags: readonly Flag[],
): FlagReading {
  const { flag, name, glued } = match;
  const reading = [flag.id, true] as const;
  if (glued === undefined) return { values: [reading], tookNext: false };
  const follower = name.startsWith("--") ? undefined : byName(`-${glued.slice(0, 1)}`, flags);
  if (follower === undefined)
    throw argumentError(
      flag,
      `ignored explicit argument ${pyRepr(glued)}`,
      longMeant(match, flags),
    );
  const more = glued.slice(1);
  const rest = readFlag(
    { flag: follower, name: `-${glued.slice(0, 1)}`, ...(more !== "" && { glued: more }) },
    next,
    flags,
  );
  return { values: [reading, ...rest.values], tookNext: rest.tookNext };
}

const byName = (name: string, flags: readonly Flag[]): Flag | undefined =>
  flags.find((flag) => flag.names.includes(name));

function unrecognized(
  words: readonly string[],
  matches: readonly WordMatch[],
  unrecognizedWords: readonly string[],
  flags: readonly Flag[],
): ConfigError {
  const [word = ""] = words.filter((_, index) => matches[index] === "unknown");
  const near = nearest(splitAtEquals(word)[0], longNames(flags));
  const dashed = dashedAmong(words, matches, flags).filter(({ mayBeFlag }) => !mayBeFlag);
  return new ConfigError({
    code: "app.usage",
    message: `unrecognized arguments: ${unrecognizedWords.join(" ")}`,
    nearest: near,
    ...(near === undefined &&
      dashed.length > 0 && { hint: withoutDashes(dashed.map(overrideOf), flags) }),
  });
}

const longNames = (flags: readonly Flag[]): readonly string[] =>
  flags.flatMap((flag) => flag.names).filter((name) => name.startsWith("--"));

/** A value of the config that is written as a flag: `--lr 0.1`, `--lr=0.1`. */
export interface DashedValue {
  readonly key: string;
  /** Undefined for a key alone, and for what is probably secret: no config is read yet whose schema would tell. */
  readonly value?: string;
  /** Whether the name of a flag is similar. */
  readonly mayBeFlag: boolean;
  /** Where it stands among the words of the line, and how many it has. */
  readonly index: number;
  readonly length: number;
}

/** The values of the config in a line that are written as flags, before `--`. */
export function dashedValues(
  argv: readonly string[],
  flags: readonly Flag[],
): readonly DashedValue[] {
  const dashes = argv.indexOf("--");
  const words = dashes < 0 ? argv : argv.slice(0, dashes);
  const matches = words.map((word) => matchFlag(word, flags));
  return dashedAmong(words, matches, flags);
}

const dashedAmong = (
  words: readonly string[],
  matches: readonly WordMatch[],
  flags: readonly Flag[],
): readonly DashedValue[] =>
  words.flatMap((word, index) => {
    if (matches[index] !== "unknown") return [];
    const next = words[index + 1];
    const follows = matches[index + 1] === "override" && next?.includes("=") === false;
    const [name, glued] = splitAtEquals(word);
    // With one dash only what has a value is an override.
    const isAssigned = glued !== undefined || (follows && word.length > 2);
    const [, key] =
      (isAssigned ? /^--?([A-Za-z_][\w.-]*)$/ : /^--([A-Za-z_][\w.-]*)$/).exec(name) ?? [];
    if (key === undefined) return [];
    const value = glued ?? (follows ? next : undefined);
    return [
      {
        key,
        ...(value !== undefined && !SECRET.test(key) && { value }),
        mayBeFlag: nearest(name, longNames(flags)) !== undefined,
        index,
        length: glued === undefined && follows ? 2 : 1,
      },
    ];
  });

export const overrideOf = ({ key, value = PLACEHOLDER }: DashedValue): string => `${key}=${value}`;

export const WITHOUT_DASHES = "write config values without dashes";

/** What to do about values that are written as flags. */
export function withoutDashes(overrides: readonly string[], flags: readonly Flag[]): string {
  const plain = longNames(flags).includes("--plain-flags") ? ", or add --plain-flags" : "";
  return `${WITHOUT_DASHES}: ${shellCommand(overrides)}${plain}`;
}

const PLACEHOLDER = "VALUE";

/** The end of a key whose value is probably secret. */
const SECRET =
  /(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|(?:api|access|private|secret)[_-]?key)$/i;

/** argparse reads `-cfg` and `-help` as several short flags; users who type them mean the long flag. */
function longMeant({ name, glued }: FlagMatch, flags: readonly Flag[]): string | undefined {
  const [long] = splitAtEquals(`-${name}${glued ?? ""}`);
  return byName(long, flags) === undefined ? undefined : long;
}

const argumentError = (flag: Flag, problem: string, near?: string): ConfigError =>
  usage(`argument ${flagLabel(flag)}: ${problem}`, near);

const usage = (message: string, near?: string): ConfigError =>
  new ConfigError({ code: "app.usage", message, ...(near !== undefined && { nearest: near }) });
