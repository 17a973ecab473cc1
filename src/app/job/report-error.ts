/** Shows errors as Hydra does. */
import { DEFAULT_DIALECT, DIALECT_NAMES, DIALECTS } from "../../engine/values/dialect.ts";
import { type CodedError, ConfigError, isCodedError } from "../../engine/values/errors.ts";
import { pyRepr } from "../../engine/values/python-text.ts";
import { errorJson, renderError } from "../../engine/values/render-error.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import { fileRemedy, namedFileProblem } from "../../foundation/system/files.ts";
import { visibleControls } from "../../foundation/text/printable.ts";
import type { JobResult } from "./job.ts";
import type { ProgramDeclaration } from "./options.ts";
import type { Invocation } from "./process/invocation.ts";

const FULL_ERROR = "HYDRA_FULL_ERROR";

/** Where to show an error, and for which program. */
export interface Failing {
  readonly invocation: Invocation;
  readonly options: Pick<
    ProgramDeclaration,
    "hasUserCode" | "dialect" | "name" | "tool" | "versionBase"
  >;
}

/** Shows the error of a failed job, as Hydra does. */
export function showFailure(
  { error, overrides }: Pick<JobResult, "error" | "overrides">,
  program: Failing,
): void {
  const shown = overrides.map((override) => pyRepr(override)).join(", ");
  program.invocation.console.stderr(`Error executing job with overrides: [${shown}]\n`);
  reportError(error, program);
}

/**
 * Shows an error as Hydra does: the problem and its place, and how to see the whole stack. An error that is not ours is
 * shown with its stack, without our own frames unless `HYDRA_FULL_ERROR=1` is set. If no code is the user's, a mistake
 * in the config has no stack worth showing; and of a tool, no error has one.
 */
export function reportError(error: unknown, { invocation, options }: Failing): void {
  const { console, env } = invocation;
  const full = env[FULL_ERROR] === "1";
  const isForUsers = options.tool !== undefined && options.hasUserCode === false;
  const lines = isCodedError(error)
    ? [
        renderError(error, { color: console.color === true }),
        ...(full ? [...error.frames, ...causesOf(error)] : isForUsers ? [] : ofTarget(error)),
      ]
    : full
      ? stacks(error)
      : isForUsers
        ? messages(error, options.name)
        : userStacks(error);
  console.stderr(`${lines.join("\n")}\n`);
  if (
    !full &&
    mentionsFullErrorVariable(options) &&
    (options.hasUserCode !== false || !(isForUsers || isCodedError(error)))
  )
    console.stderr(`\nSet the environment variable ${FULL_ERROR}=1 for a complete stack trace.\n`);
}

function mentionsFullErrorVariable({ dialect, versionBase }: Failing["options"]): boolean {
  const name = DIALECT_NAMES.find((dialectName) => dialectName === (dialect ?? versionBase));
  return (name === undefined ? DEFAULT_DIALECT : DIALECTS[name]).mentionsFullErrorVariable;
}

/**
 * Shows an error outside of any job. A system error (a directory that cannot be made, a full disk) is shown without a
 * stack: its message names the path, and the lines of our code would not help.
 */
export function reportOwnError(error: unknown, program: Failing): void {
  const isFull = program.invocation.env[FULL_ERROR] === "1";
  reportError(isFull ? error : coded(error), program);
}

/** Turns a system error of our own calls into an error with a code; leaves all others unchanged. */
export const coded = (error: unknown): unknown =>
  isRefusalOfSystem(error)
    ? new ConfigError({
        code: "app.system",
        message: namedFileProblem(error),
        hint: fileRemedy(error),
        cause: error,
      })
    : error;

/** Whether a system call failed that our code made, not the user's. */
export const isRefusalOfSystem = (error: unknown): error is Error =>
  isError(error) && "syscall" in error && !OF_USER.test(error.stack ?? "");

/**
 * An error that a target threw is the user's own; its stack is shown below our error about the config that called it.
 */
const ofTarget = (error: CodedError): readonly string[] =>
  error.code === "instantiate.failed" ? ["", ...userStacks(error.details.cause)] : [];

/**
 * With `--json` on the command line, the error also as a JSON document on standard output, where programs read. People and
 * logs have its text on standard error.
 */
export function printJsonError(error: unknown, { argv, console }: Invocation): void {
  const dashes = argv.indexOf("--");
  if (!(dashes < 0 ? argv : argv.slice(0, dashes)).includes("--json")) return;
  console.stdout(errorJson(coded(error)));
}

const causesOf = (error: CodedError): readonly string[] =>
  error.cause === undefined ? [] : [`Caused by: ${stacks(error.cause).join("\n")}`];

/** The stacks of an error and of its causes. */
const stacks = (error: unknown): readonly string[] =>
  withCauses(error, (cause) => (isError(cause) ? (cause.stack ?? cause.message) : String(cause)));

/** The stacks without our frames. An error of ours that the user's code wrapped is shown by its message. */
const userStacks = (error: unknown): readonly string[] =>
  withCauses(error, (cause) => (isCodedError(cause) ? cause.message : userStack(cause)));

/** The messages of an error and of its causes, as a tool named `program` tells them. */
const messages = (error: unknown, program = "error"): readonly string[] =>
  withCauses(error, (cause) => (isError(cause) ? cause.message || cause.name : String(cause))).map(
    (line, index) => visibleControls(index === 0 ? `${program}: ${line}` : line),
  );

const MOST_CAUSES = 10;

function withCauses(error: unknown, show: (error: unknown) => string): readonly string[] {
  const chain: string[] = [];
  for (let cause = error; cause !== undefined && chain.length < MOST_CAUSES; cause = causeOf(cause))
    chain.push(`${chain.length === 0 ? "" : "Caused by: "}${show(cause)}`);
  return chain;
}

const causeOf = (error: unknown): unknown => (isError(error) ? error.cause : undefined);

/** Our functions that call the user's code. */
const OF_USER = /\b(runUserTask|invokeTarget)\b/;

/** The part of a stack above our call of the user's code: below it are only frames of ours and of Node. */
function userStack(error: unknown): string {
  if (!isError(error)) return `Error: ${String(error)}`;
  const lines = (error.stack ?? `${error.name}: ${error.message}`).split("\n");
  const ours = lines.findIndex((line) => /^\s+at /.test(line) && OF_USER.test(line));
  const ownLines = ours < 0 ? lines : lines.slice(0, ours);
  return ownLines.filter((line) => !/^\s+at .*\(?node:internal\//.test(line)).join("\n");
}

/** Warns the user as Python shows Hydra's warnings. */
export const warnOf = (message: string, { console }: Pick<Invocation, "console">): void =>
  console.stderr(`UserWarning: ${message}\n`);
