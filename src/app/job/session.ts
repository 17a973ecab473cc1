/** One call of a program, and the exit codes of commands. */
import type { Composer } from "./composer.ts";
import type { Task } from "./job.ts";
import type { Flag, ProgramOptions } from "./options.ts";
import type { Invocation } from "./process/invocation.ts";

/** One call of a program: its declaration, its command line, and where it was called. */
export interface Session {
  readonly options: ProgramOptions;
  readonly task: Task;
  readonly invocation: Invocation;
  readonly parsed: ParsedArguments;
  /** All flags the program knows. */
  readonly flags: readonly Flag[];
  /** The overrides of the command line, and those that the arguments after `--` stand for. */
  readonly overrides: readonly string[];
  readonly composer: Composer;
  /** A composer for other flags than those of this command line; it prints nothing. */
  readonly composerFor: (parsed: ParsedArguments) => Composer;
  /** For completion: composers of further trees that the line may be for. */
  readonly alternatives: readonly Pick<Session, "composerFor">[];
  /** Whether completion leaves out the launchers and sweepers that only hydraconf has: those of a Python program. */
  readonly hydrasOptionsOnly: boolean;
}

export const EXIT_OK = 0;
export const EXIT_ERROR = 1;
export const EXIT_USAGE = 2;

export interface ParsedArguments {
  /** Values by flag id; `true` for flags that take none. The last of several wins. */
  readonly flags: ReadonlyMap<string, string | true>;
  /** All arguments that are not flags: overrides, in order. */
  readonly overrides: readonly string[];
  /** The overrides that argparse would refuse: all after the first run of words. */
  readonly apart?: readonly string[];
  /** The words behind a flag that takes overrides, in order; undefined without such a flag. */
  readonly more?: readonly string[];
  /** The arguments of a tool: words that are neither flags nor overrides. */
  readonly words?: readonly string[];
  /** The arguments after `--`, verbatim; undefined without `--`. */
  readonly rest?: readonly string[];
}
