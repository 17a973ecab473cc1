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
  /** Those of the command line, and what stands after `--` turned into some. */
  readonly overrides: readonly string[];
  readonly composer: Composer;
  /** A composer for other flags than those of this command line, which prints nothing. */
  readonly composerFor: (parsed: ParsedArguments) => Composer;
}

export const EXIT_OK = 0;
export const EXIT_ERROR = 1;
export const EXIT_USAGE = 2;

export interface ParsedArguments {
  /** Values by flag id; `true` for flags that take none. The last of several wins. */
  readonly flags: ReadonlyMap<string, string | true>;
  /** Everything that is no flag: overrides, in order. */
  readonly overrides: readonly string[];
  /** Those of them that argparse would not take: all behind the first run of words. */
  readonly apart?: readonly string[];
  /** The words behind a flag that takes overrides, in order; undefined without such a flag. */
  readonly more?: readonly string[];
  /** What stands after `--`, verbatim; undefined without `--`. */
  readonly rest?: readonly string[];
}
