/**
 * Asks a program for an answer while this process waits: for callers that are synchronous, as resolvers of interpolations are.
 * Others use `askProgram`, which also reads what a program leaves open when it ends.
 */

import { spawnSync } from "node:child_process";
import { startProblem } from "./find-program.ts";
import type { Signal } from "./platform-types.ts";

/** What every question says. */
export interface ProgramQuestion {
  /** The program with its arguments: never a line of a shell. */
  readonly argv: readonly string[];
  /** Default: the working directory. */
  readonly cwd?: string;
  /** The whole environment. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The time limit in milliseconds. Default: none. */
  readonly limitMs?: number;
  /** A longer answer counts as a failure. Default: `MAX_ANSWER_BYTES`. */
  readonly maxBytes?: number;
}

export interface Answer {
  readonly failed: boolean;
  /** Why it failed; empty if it did not. */
  readonly why: string;
  /** Whether it was ended by us: for its time, its length, or `abort`. What it had printed may be missing then. */
  readonly isGivenUp: boolean;
  /** As printed, with the last line break. */
  readonly stdout: string;
  readonly stderr: string;
  /** Absent if a signal ended it, or if it did not start. */
  readonly exitCode?: number;
  readonly signal?: Signal;
  /** The system's error if it did not start, e.g. `ENOENT`. */
  readonly code?: string;
}

export const MAX_ANSWER_BYTES = 1e6;

interface SyncQuestion extends ProgramQuestion {
  /** Where its standard output goes: into the answer, to nowhere, or to an open file. Default: `answer`. */
  readonly stdout?: "answer" | "nowhere" | { readonly descriptor: number };
}

/** Never throws. A program that exceeds its limits is killed; what it started itself is not. */
export function askProgramSync(question: SyncQuestion): Answer {
  const { argv, cwd, env = process.env, limitMs, stdout = "answer" } = question;
  const { maxBytes = MAX_ANSWER_BYTES } = question;
  const [program = "", ...args] = argv;
  const output = stdout === "answer" ? "pipe" : stdout === "nowhere" ? "ignore" : stdout.descriptor;
  const result = spawnSync(program, args, {
    ...(cwd !== undefined && { cwd }),
    env,
    encoding: "utf8",
    killSignal: "SIGKILL",
    maxBuffer: maxBytes,
    stdio: ["ignore", output, "pipe"],
    ...(limitMs !== undefined && { timeout: limitMs }),
  });
  const error: NodeJS.ErrnoException | undefined = result.error;
  const isTooLong = error?.code === "ENOBUFS";
  const isTooLate = error?.code === "ETIMEDOUT";
  const isStarted = error === undefined || isTooLong || isTooLate;
  const ended = {
    ...(result.status !== null && { exitCode: result.status }),
    ...(result.signal !== null && { signal: result.signal as Signal }),
  };
  const why = isTooLate
    ? tooLate(limitMs ?? 0)
    : isTooLong
      ? tooLong(maxBytes)
      : isStarted
        ? endProblem(ended)
        : startProblem(error?.code, error?.message ?? "it failed");
  return {
    failed: why !== "",
    why,
    isGivenUp: isTooLong || isTooLate,
    stdout: result.stdout ?? "",
    stderr: result.stderr ?? "",
    ...ended,
    ...(!isStarted && error?.code !== undefined && { code: error.code }),
  };
}

export const tooLate = (limitMs: number): string => `it did not answer within ${limitMs / 1000} s`;

export const tooLong = (maxBytes: number): string => `its answer is longer than ${maxBytes} bytes`;

/** Why a program that ended by itself failed; empty if it did not. */
export function endProblem({ exitCode, signal }: Pick<Answer, "exitCode" | "signal">): string {
  if (signal !== undefined) return `it was ended by ${signal}`;
  return exitCode === undefined || exitCode === 0 ? "" : `it ended with exit code ${exitCode}`;
}
