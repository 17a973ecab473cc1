/** The errors of the whole project: data with a code, a place and a remedy. */
import { closest, distance } from "fastest-levenshtein";
import { isError } from "../../foundation/system/builtin-types.ts";
import type { ErrorCode, ErrorDetails } from "./error-details.ts";
import { errorText } from "./error-text.ts";

export type { EngineErrorCode } from "./error-codes.ts";
export type {
  ErrorCode,
  ErrorCodes,
  ErrorDetails,
  NestedError,
  PluginErrorCode,
} from "./error-details.ts";

/**
 * An error with a code, a place and a remedy. Rendered for people by `renderError`; its stack begins with the same
 * text, for programs that log it or do not catch it. `details` is a getter of the prototype, because Node prints own
 * properties, and an origin holds the whole text of a config file.
 */
export class CodedError<Code extends string = string> extends Error {
  override readonly name: string = "CodedError";
  readonly code: Code;
  readonly #given: ErrorDetails<Code>;
  readonly #hints: ErrorHints | undefined;
  #details: ErrorDetails<Code> | undefined;
  readonly #frames: () => readonly string[];

  /**
   * For code that reads or checks configs and wants its errors rendered like ours.
   * @param hints details that take time to compute: they are computed when they are read, since many errors only say
   *   that something cannot be resolved yet
   */
  constructor(details: ErrorDetails<Code>, hints?: ErrorHints) {
    // Capturing a stack is expensive, and this one is replaced below.
    const limit = Error.stackTraceLimit;
    Reflect.set(Error, "stackTraceLimit", 0);
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause });
    Reflect.set(Error, "stackTraceLimit", limit);
    this.code = details.code;
    Object.defineProperty(this, BRAND, { value: true });
    this.#given = details;
    this.#hints = hints;
    this.#frames = captureFrames(new.target);
    Object.defineProperty(this, "stack", STACK);
  }

  /** The error as data: what is wrong, where, and what to do. */
  get details(): ErrorDetails<Code> {
    this.#details ??= withoutUndefined({ ...this.#given, ...this.#hints?.() });
    return this.#details;
  }

  /** Every line of the stack; `stack` begins with the caller's. */
  get frames(): readonly string[] {
    return this.#frames();
  }
}

/** The only error the engine throws for bad input. */
export class ConfigError extends CodedError<ErrorCode> {
  override readonly name = "ConfigError";
  /** Whether the key is already the requested one. Private, because `details` are shown. */
  #hasRequestedKey = false;

  /**
   * The same error with another key: the requested one instead of the key where resolution failed. The first call wins:
   * if a resolver requests `c[0]` of a list, the error names that item, whichever key refers to the resolver.
   * @internal
   */
  withRequestedKey(key: string): ConfigError {
    if (this.#hasRequestedKey) return this;
    const asked = new ConfigError({ ...this.details, key });
    asked.#hasRequestedKey = true;
    return asked;
  }
}

/** A plugin may depend on its own copy of the engine, so errors are recognised by this symbol and not by class. */
const BRAND = Symbol.for("hydraconf.ConfigError");

const withoutUndefined = <Code extends string>(
  details: ErrorDetails<Code>,
): ErrorDetails<Code> => ({
  code: details.code,
  message: details.message,
  ...Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined)),
});

/** Alternatives to a wrong name, and the remedy, computed when they are read. */
export type ErrorHints = () => Pick<ErrorDetails, "available" | "nearest" | "hint" | "proposals">;

/**
 * The `stack` property of every error, with our text. Most errors are never shown, so the text is computed when it is
 * read. It can be assigned, because loggers and test runners do that.
 */
const STACK: PropertyDescriptor & ThisType<CodedError> = {
  get() {
    return [`${this.name}: ${errorText(this.details)}`, ...framesOfCaller(this.frames)].join("\n");
  },
  set(value: unknown) {
    Object.defineProperty(this, "stack", { value, writable: true, enumerable: false });
  },
  enumerable: false,
  configurable: true,
};

/** Whether a caught error is one of ours, with `details`; any other is a bug or an error of the caller's code. */
export const isConfigError = (error: unknown): error is ConfigError =>
  error instanceof ConfigError || (isError(error) && BRAND in error);

/** Whether a caught error is one of ours: invalid input, or an error of a tool. */
export const isCodedError = (error: unknown): error is CodedError => error instanceof CodedError;

/** Enough frames to reach from the bottom of a composition to its caller. */
const DEPTH = 100;

/**
 * The stack frames where an error was made: enough to reach the caller's own, whatever `stackTraceLimit` is. None if
 * stack traces are switched off.
 */
function captureFrames(above: unknown): () => readonly string[] {
  const limit = Error.stackTraceLimit;
  const holder: { stack?: string } = {};
  if (Error.captureStackTrace === undefined) return framesWithout(limit);
  // `Reflect.set`, because an assignment throws where intrinsics are frozen, and the error must still be made.
  const isDeep = limit > 0 && limit < DEPTH && Reflect.set(Error, "stackTraceLimit", DEPTH);
  Error.captureStackTrace(holder, above as () => unknown);
  if (isDeep) Reflect.set(Error, "stackTraceLimit", limit);
  return () => framesIn(holder.stack);
}

/** In a browser with another engine than V8. */
function framesWithout(limit: number | undefined): () => readonly string[] {
  const { stack } = new Error("for its stack");
  return () => framesIn(stack).slice(0, limit);
}

/** The frames of a stack, without the message above them: `    at f (FILE:1:2)`, or `f@FILE:1:2`. */
const framesIn = (stack = ""): readonly string[] =>
  stack.split("\n").filter((line) => /^\s+at |^[^\s@]*@\S+:\d+$/.test(line));

/**
 * The caller's frames, since those of the engine do not help with a wrong config; all frames where the caller is one of
 * our commands.
 */
export function framesOfCaller(frames: readonly string[]): readonly string[] {
  const ourFolders = ownFolders();
  const first = frames.findIndex(
    (frame) =>
      !ourFolders.some((folder) => frame.includes(folder)) &&
      !/\bnode:|<anonymous>|native/.test(frame),
  );
  return (first < 0 ? frames : frames.slice(first)).slice(0, Error.stackTraceLimit);
}

/** Where this file is, in a clone or in an installed package, after the root of either. */
const OWN_FILE =
  /^file:\/\/(.*\/)(?:src\/engine\/values\/errors\.ts$|(?<=\/(?:hydraconf|deep-profile)\/)dist\/)/;

/**
 * Our folders as paths and as URLs, which differ if names contain blanks. None in a bundle, which has all code in one
 * file, and in a CommonJS module, which has no URL.
 */
function ownFolders(): readonly string[] {
  const url: string | undefined = import.meta.url;
  const root = OWN_FILE.exec(url ?? "")?.[1];
  if (root === undefined) return [];
  return ["src/", "dist/"].flatMap((folder) => [decodeURI(root) + folder, root + folder]);
}

/** Shorter names are not matched as abbreviations: too many names begin with them. */
const SHORTEST_PART = 3;

/**
 * The candidate that a name was probably meant to be, or undefined when none is near: the same in another case; else at
 * most two edits in every five characters; else the one with two neighbouring letters swapped; else the only one that
 * begins or ends with the name.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const folded = name.toLowerCase();
  const sameButCase = candidates.find((candidate) => candidate.toLowerCase() === folded);
  if (sameButCase !== undefined) return sameButCase;
  const candidate = closest(name, candidates);
  const length = Math.max(name.length, candidate.length);
  const edits = distance(name, candidate);
  // Two names without a letter in common are not alike.
  if (edits < length && edits <= Math.max(1, Math.floor((2 * length) / 5))) return candidate;
  const swapped = candidates.find((candidate) => areLettersSwapped(name, candidate));
  if (swapped !== undefined) return swapped;
  const longer = candidates.filter(
    (candidate) => candidate.startsWith(name) || candidate.endsWith(name),
  );
  return name.length >= SHORTEST_PART && longer.length === 1 ? longer[0] : undefined;
}

/** Whether two names differ only in the order of two neighbouring letters. */
function areLettersSwapped(name: string, other: string): boolean {
  const position = [...name].findIndex((char, index) => char !== other[index]);
  return (
    position >= 0 &&
    name.slice(0, position) +
      name.charAt(position + 1) +
      name.charAt(position) +
      name.slice(position + 2) ===
      other
  );
}

/** The alternatives for an error about a name: all valid names, and the likely one. */
export function alternativesTo(
  name: string,
  available: readonly string[],
): { readonly available: readonly string[]; readonly nearest?: string } {
  const near = nearest(name, available);
  return { available, ...(near !== undefined && { nearest: near }) };
}
