/** What an error says, as data; `errors.ts` has the errors themselves. */
import type { EngineErrorCode } from "./error-codes.ts";
import type { Origin } from "./origin.ts";

/** The codes of each wing. The engine has its own here; `error-codes.ts` of another wing adds that wing's. */
export interface ErrorCodes {
  readonly engine: EngineErrorCode;
}

/** All reasons for which input is refused; `tests/conformance` maps each to the exception class that Hydra raises instead. */
export type ErrorCode = ErrorCodes[keyof ErrorCodes] | PluginErrorCode;

/** A code of a plugin: the plugin's name, a slash and a word of its own, `slurm/missing`. */
export type PluginErrorCode = `${string}/${string}`;

/**
 * An error as data: what is wrong, where, and what to do. `renderError` converts it to text. Fields that are undefined
 * when an error is made are absent from its `details`.
 */
export interface ErrorDetails<Code extends string = ErrorCode> {
  readonly code: Code;
  /** First line: what is wrong, in Hydra's wording where Hydra has one. No trailing newline. */
  readonly message: string;
  /** The place of the wrong text. */
  readonly origin?: Origin | undefined;
  /** Full dotted key concerned, e.g. `db.port`. */
  readonly key?: string | undefined;
  /** What would have been accepted: options, keys, function names. */
  readonly available?: readonly string[] | undefined;
  /** The nearest accepted name, when one is near. */
  readonly nearest?: string | undefined;
  /** What to do, often the command line that would work. */
  readonly hint?: string | undefined;
  /**
   * The overrides that the hint proposes, each to be typed in place of the wrong one: of all its parts, where a shell has split it at
   * blanks.
   */
  readonly proposals?: readonly string[] | undefined;
  /** Further problems found at the same time; each is rendered below this one, in the same form. */
  readonly others?: readonly NestedError[] | undefined;
  readonly cause?: unknown;
}

/** An error within another one. */
export interface NestedError extends Error {
  readonly code: string;
  readonly details: ErrorDetails<string>;
}
