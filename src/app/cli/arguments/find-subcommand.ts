/** Subcommands of a program: which one a line names, and words that were meant for one. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError, isConfigError, nearest } from "../../../engine/values/errors.ts";
import { interpreterOf, startedAs } from "../../../foundation/system/find-program.ts";
import { shellCommand, shellQuote } from "../../../foundation/text/shell-words.ts";
import { usageText } from "../../command-line/command-line.ts";
import type { Flag, Subcommand } from "../../job/options.ts";
import type { Invocation } from "../../job/process/invocation.ts";
import { printJsonError, reportOwnError } from "../../job/report-error.ts";
import { EXIT_ERROR, EXIT_USAGE } from "../../job/session.ts";
import { flagIn } from "./parse-argv.ts";

/** The subcommand that a command line names. */
export const subcommandOf = (
  argv: readonly string[],
  subcommands: readonly Subcommand[],
): Subcommand | undefined => subcommands.find(({ name }) => name === argv[0]);

/** Never throws for a user's mistake: it prints the error and returns its exit code. */
export async function runSubcommand(
  { name, run }: Subcommand,
  program: string,
  invocation: Invocation,
): Promise<number> {
  if (!invocation.argv.includes("--help")) invocation.console.openStreams?.();
  try {
    return await run(invocation.argv.slice(1), invocation);
  } catch (error) {
    printJsonError(error, invocation);
    if (!isConfigError(error) || error.code !== "app.usage") {
      reportOwnError(error, { invocation, options: { hasUserCode: false } });
      return EXIT_ERROR;
    }
    invocation.console.stderr(usageText(`${program} ${name}`, error));
    return EXIT_USAGE;
  }
}

/** What a command does with the program after `--`. */
export interface ProgramUse extends Pick<Invocation, "cwd" | "env"> {
  /** The verb for it: `run`, `profile`. */
  readonly verb: string;
  /** The command that does so. */
  readonly by: string;
  /** Whether that is another command than the one that is called. */
  readonly isElsewhere: boolean;
  /** Whether its jobs get the config, so that overrides among a script's arguments are the command's. */
  readonly passesConfig: boolean;
}

/**
 * Refuses a bare word that is not an override but may be a subcommand: misspelt, or not at the front.
 *
 * @param use undefined if the command runs no program
 * @throws ConfigError `app.usage` for such a word
 */
export function refuseMisspelt(
  argv: readonly string[],
  subcommands: readonly Subcommand[],
  use: ProgramUse | undefined,
  flags: readonly Flag[],
): void {
  const takesProgram = use?.isElsewhere === false;
  const [word = ""] = argv;
  const names = subcommands.map(({ name }) => name);
  const behind = names.find((name) => argv.indexOf(name) > 0 && isBare(argv, name, flags));
  if (behind !== undefined)
    throw new ConfigError({
      code: "app.usage",
      message: `the subcommand ${behind} must come first`,
      hint: `put it first, followed by its own options: ${reordered(argv, behind)}${orQuoted(argv, behind)}`,
    });
  refuseDashes(word, names, flags);
  if (use?.isElsewhere === true) refuseScript(argv, use, flags);
  const isOurs = /^[-~+]|=/.test(word);
  const path = argv.find((each) => PROGRAM_FILE.test(each) && isBare(argv, each, flags));
  if (path !== undefined && isOurs && takesProgram) {
    // Its interpreter may precede it: `python3 ../train.py`.
    const index = argv.findIndex((each) => each === path || isProgramWord(argv, each, flags));
    throw new ConfigError({
      code: "app.usage",
      message: `'${path}' is not an override (KEY=VALUE)`,
      hint: programAfter(argv, index, use, flags),
    });
  }
  if (!/^[\w./~-]*[\w/]$/.test(word) || word.startsWith("-") || word.startsWith("~")) return;
  const near = /^[A-Za-z][\w-]*$/.test(word) ? nearest(word, names) : undefined;
  const isProgramBehind = path === undefined && argv.includes("--");
  if (near === undefined && (!takesProgram || isProgramBehind)) return;
  throw new ConfigError({
    code: "app.usage",
    message: `'${word}' is neither an override (KEY=VALUE) nor a subcommand`,
    nearest: near,
    ...(takesProgram && { hint: whatWasMeant(word, argv, use, flags) }),
  });
}

/** A script on the command line of a command that runs programs by a subcommand only. */
function refuseScript(argv: readonly string[], use: ProgramUse, flags: readonly Flag[]): void {
  const isScript = (each: string) =>
    PROGRAM_FILE.test(each) &&
    interpreterOf(each) !== undefined &&
    existsSync(resolve(use.cwd, each)) &&
    isBare(argv, each, flags);
  const script = argv.find(isScript);
  if (script === undefined) return;
  // Its interpreter may precede it.
  const index = argv.findIndex((each) => each === script || isProgramWord(argv, each, flags));
  throw new ConfigError({
    code: "app.usage",
    message: `'${script}' is not an override (KEY=VALUE)`,
    hint: programAfter(argv, index, use, flags),
  });
}

/** A path, or the name of a script: no override is without `=`. */
const PROGRAM_FILE = /^\.{0,2}\/[^=]*$|^\w[\w./-]*\.(?:py|[mc]?[jt]s|sh)$/;

/** `--docter`: a subcommand written like a flag. A word that is similar to a flag gets the flag's own error. */
function refuseDashes(word: string, names: readonly string[], flags: readonly Flag[]): void {
  const [, typed] = /^--([A-Za-z][\w-]*)$/.exec(word) ?? [];
  if (typed === undefined || flagIn(word, flags) !== undefined) return;
  const near = nearest(typed, names);
  const ofFlags = flags.flatMap((flag) => flag.names);
  if (near === undefined || nearest(word, ofFlags) !== undefined) return;
  throw new ConfigError({
    code: "app.usage",
    message: `unrecognized arguments: ${word}`,
    nearest: near,
    hint: "a subcommand has no dashes",
  });
}

/** The command line with `--` before the word that begins the program, and what is the command's in front of it. */
export function programAfter(
  argv: readonly string[],
  index: number,
  { by, cwd, env, isElsewhere, passesConfig, verb }: ProgramUse,
  flags: readonly Flag[],
): string {
  const [preceding, program] = [argv.slice(0, index), argv.slice(index)];
  const isMultirun = (each: string) => flagIn(each, flags)?.flag.id === "multirun";
  const isOverride = (each: string) => /^[~+]*[A-Za-z_][\w./@-]*=/.test(each);
  const place = Math.max(
    0,
    program.findIndex((each) => PROGRAM_FILE.test(each) && interpreterOf(each) !== undefined),
  );
  const isConfigured = passesConfig && program.some((each) => PROGRAM_FILE.test(each));
  // Only what precedes `--` is swept, and passed to a program without Hydra. In front of a script stand arguments of what starts it.
  const isOurs = (each: string, position: number) =>
    isConfigured
      ? position > place && (isMultirun(each) || isOverride(each))
      : isOverride(each) && preceding.some(isMultirun);
  const [first = "", ...rest] = program.filter((each, position) => !isOurs(each, position));
  const started = PROGRAM_FILE.test(first) ? startedAs(first, cwd, env["PATH"]) : [first];
  const ours = [...preceding, ...program.filter(isOurs)];
  const line = shellCommand([...ours, "--", ...started, ...rest]);
  return `to ${verb} a program${isElsewhere ? "" : ", put -- before it"}: ${by} ${line}`;
}

/** Words that users try as subcommands, and the right way to do what they mean. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["help", "for help: --help, or --help KEY..."],
  ["version", "for the version: --version"],
  ["sweep", "'hydraconf sweep' manages the sweeps of any program"],
  ["validate-regions", "use the separate command 'validate-regions FILE...'"],
]);

function whatWasMeant(
  word: string,
  argv: readonly string[],
  use: ProgramUse,
  flags: readonly Flag[],
): string {
  const elsewhere = ELSEWHERE.get(word);
  if (elsewhere !== undefined) return elsewhere;
  const program = programAfter(argv, 0, use, flags);
  return /^[A-Za-z]\w*(\.\w+)+$/.test(word) && !PROGRAM_FILE.test(word)
    ? `${program}; to set a key: ${word}=VALUE`
    : program;
}

/**
 * Whether a word is an argument of its own: neither after `--`, nor the value of a flag such as `--explain`, nor one of
 * the directories after `--diff`.
 */
function isBare(argv: readonly string[], name: string, flags: readonly Flag[]): boolean {
  const preceding = argv.slice(0, argv.indexOf(name));
  const match = flagIn(preceding.at(-1) ?? "", flags);
  const isValue =
    match !== undefined && match.flag.takes !== "nothing" && match.glued === undefined;
  return !preceding.includes("--") && !preceding.includes("--diff") && !isValue;
}

/** Whether a word can only be of a program's command line: neither an override nor an argument of ours. */
const isProgramWord = (argv: readonly string[], word: string, flags: readonly Flag[]): boolean =>
  !/^[-~+]|[=@]/.test(word) && isBare(argv, word, flags);

/** The corrected command line, if what precedes the subcommand can be arguments for it. */
function reordered(argv: readonly string[], name: string): string {
  const index = argv.indexOf(name);
  const preceding = argv.slice(0, index);
  return preceding.some((word) => !word.startsWith("-") && word.includes("="))
    ? `${name} ...`
    : shellCommand([name, ...preceding, ...argv.slice(index + 1)]);
}

/** The name of a subcommand may be the rest of a value that a shell has split: `name=my run`. */
function orQuoted(argv: readonly string[], name: string): string {
  const preceding = argv[argv.indexOf(name) - 1] ?? "";
  return /^[+~]*[A-Za-z_][\w./@-]*=./.test(preceding)
    ? `; if it belongs to a value: ${shellQuote(`${preceding} ${name}`)}`
    : "";
}

/** One line per subcommand, for the program's help. */
export function subcommandsHelp(program: string, subcommands: readonly Subcommand[]): string {
  const width = Math.max(0, ...subcommands.map(({ name }) => name.length));
  return subcommands
    .map(({ name, summary }) => `  ${program} ${name.padEnd(width)}   ${summary}`)
    .join("\n");
}
