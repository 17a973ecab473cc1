import { shellCommand } from "../shell-quote.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { nearest } from "../values/nearest.ts";
import { EXIT_ERROR, EXIT_USAGE } from "./commands/command.ts";
import { reportOwnError } from "./errors/report-error.ts";
import type { Flag } from "./flags/flag.ts";
import { flagIn } from "./flags/parse-argv.ts";
import type { Invocation } from "./process/invocation.ts";

/**
 * What a program does beside its job, chosen by its first word: `PROGRAM NAME ARG...`. It has
 * arguments of its own, no config and no overrides. No override is a bare word, so that a name never
 * hides one.
 */
export interface Subcommand {
  readonly name: string;
  /** One line for the program's `--help`. */
  readonly summary: string;
  /** Its own options, for shell completion. */
  readonly commandLine?: () => Promise<SubcommandLine>;
  /**
   * @param args what stands behind the name
   * @returns the exit code
   * @throws ConfigError `app.usage` for wrong arguments
   */
  readonly run: (args: readonly string[], invocation: Invocation) => Promise<number>;
}

/** The command line of a subcommand, for shell completion. */
export interface SubcommandLine {
  /** What its first argument may be, where that chooses what it does, with a line each. */
  readonly actions?: Readonly<Record<string, string>>;
  /** By name, without dashes. */
  readonly options: Readonly<Record<string, SubcommandOption>>;
}

/** An option of a subcommand. */
export interface SubcommandOption {
  /** What stands for the value; absent: a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly help: string;
}

/** The one that a command line asks for. */
export const subcommandOf = (
  argv: readonly string[],
  subcommands: readonly Subcommand[],
): Subcommand | undefined => subcommands.find(({ name }) => name === argv[0]);

/** Never throws for what a user can get wrong: that is shown, and becomes the exit code. */
export async function runSubcommand(
  { name, run }: Subcommand,
  program: string,
  invocation: Invocation,
): Promise<number> {
  try {
    return await run(invocation.argv.slice(1), invocation);
  } catch (error) {
    if (!isConfigError(error) || error.code !== "app.usage") {
      reportOwnError(error, { invocation, options: { hasUserCode: false } });
      return EXIT_ERROR;
    }
    const { message, nearest: near, hint } = error.details;
    const meant = near === undefined ? "" : ` (did you mean ${near}?)`;
    const lines = [
      `${program} ${name}: error: ${message}${meant}`,
      `  ${hint ?? `${program} ${name} --help shows what it takes`}`,
    ];
    invocation.console.stderr(`${lines.join("\n")}\n`);
    return EXIT_USAGE;
  }
}

/**
 * A bare first word is no override, but may be a name misspelt.
 *
 * @throws ConfigError `app.usage` then
 */
export function refuseMisspelt(
  argv: readonly string[],
  subcommands: readonly Subcommand[],
  takesProgram: boolean,
  flags: readonly Flag[],
): void {
  const [word = ""] = argv;
  const names = subcommands.map(({ name }) => name);
  const behind = names.find((name) => argv.indexOf(name) > 0 && isBare(argv, name, flags));
  if (behind !== undefined)
    throw new ConfigError({
      code: "app.usage",
      message: `the subcommand ${behind} stands behind other arguments`,
      hint: `it comes first, and its own options behind it: ${reordered(argv, behind)}`,
    });
  const isOurs = /^[-~+]|=/.test(word);
  const path = argv.find((each) => /^\.{0,2}\/[^=]*$/.test(each) && isBare(argv, each, flags));
  if (path !== undefined && isOurs && takesProgram) {
    const at = argv.indexOf(path);
    throw new ConfigError({
      code: "app.usage",
      message: `'${path}' is no override (KEY=VALUE)`,
      hint: programAfter(argv.slice(0, at), argv.slice(at)),
    });
  }
  if (!/^[\w./~-]*[\w/]$/.test(word) || word.startsWith("-") || word.startsWith("~")) return;
  const near = /^[A-Za-z][\w-]*$/.test(word) ? nearest(word, names) : undefined;
  if (near === undefined && !takesProgram) return;
  throw new ConfigError({
    code: "app.usage",
    message: `'${word}' is neither an override (KEY=VALUE) nor a subcommand`,
    ...(near !== undefined && { nearest: near }),
    ...(takesProgram && { hint: whatWasMeant(word, argv) }),
  });
}

const programAfter = (ours: readonly string[], program: readonly string[]): string =>
  `to profile a program, put -- before it: ${[...ours, "--", ...program].join(" ")}`;

/** Words that are meant for us, and stand elsewhere. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["help", "for help: --help, or --help KEY..."],
  ["version", "for the version: --version"],
  ["sweep", "'hydraconf sweep' manages the sweeps of any program"],
  ["validate-regions", "'validate-regions FILE...' is a command of its own"],
]);

function whatWasMeant(word: string, argv: readonly string[]): string {
  const elsewhere = ELSEWHERE.get(word);
  if (elsewhere !== undefined) return elsewhere;
  const program = programAfter([], argv);
  return /^[A-Za-z]\w*(\.\w+)+$/.test(word) ? `${program}; to set a key: ${word}=VALUE` : program;
}

/**
 * A word of its own: neither behind `--`, nor what a flag such as `--explain` is about, nor among the
 * directories that stand behind `--diff`.
 */
function isBare(argv: readonly string[], name: string, flags: readonly Flag[]): boolean {
  const before = argv.slice(0, argv.indexOf(name));
  const match = flagIn(before.at(-1) ?? "", flags);
  const isValue =
    match !== undefined && match.flag.takes !== "nothing" && match.glued === undefined;
  return !before.includes("--") && !before.includes("--diff") && !isValue;
}

/** The command line as it should have been, where what stands in front can be meant for the subcommand. */
function reordered(argv: readonly string[], name: string): string {
  const at = argv.indexOf(name);
  const before = argv.slice(0, at);
  return before.some((word) => !word.startsWith("-") && word.includes("="))
    ? `${name} ...`
    : shellCommand([name, ...before, ...argv.slice(at + 1)]);
}

/** For help: a line each. */
export function subcommandsHelp(program: string, subcommands: readonly Subcommand[]): string {
  const width = Math.max(0, ...subcommands.map(({ name }) => name.length));
  return subcommands
    .map(({ name, summary }) => `  ${program} ${name.padEnd(width)}   ${summary}`)
    .join("\n");
}
