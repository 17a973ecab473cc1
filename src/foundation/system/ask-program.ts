/** Asks a program for an answer: what it prints, within limits of time and length. It is not for programs of users' jobs. */

import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { execa } from "execa";
import {
  type Answer,
  endProblem,
  MAX_ANSWER_BYTES,
  type ProgramQuestion,
  tooLate,
  tooLong,
} from "./ask-program-sync.ts";
import { startProblem } from "./find-program.ts";
import type { Signal } from "./platform-types.ts";
import { openGuard } from "./process-guard.ts";
import { openEnding } from "./process-signals.ts";

export interface Question extends ProgramQuestion {
  /** Aborts when the answer is no longer wanted. */
  readonly abort?: AbortSignal;
  /** The time in milliseconds from SIGTERM to SIGKILL. Default: 0, for SIGKILL alone. */
  readonly graceMs?: number;
  /** Whether it leads a process group, which keyboard signals do not reach. Default: false. */
  readonly group?: boolean;
  /** Whether it is killed, too, if this process is killed before it could end it. Default: as `group`. */
  readonly guarded?: boolean;
  /**
   * Where its standard output goes: into the answer, there together with standard error in the order of arrival, to
   * nowhere, or to a stream. Default: `answer`.
   */
  readonly stdout?: "answer" | "with stderr" | "nowhere" | Writable;
}

export interface StreamedAnswer extends Answer {
  /** Why the stream for its standard output has not got all of it. */
  readonly unwritten?: NodeJS.ErrnoException;
}

/** How long after its end a program may be silent while something that it started holds its output open. */
const SILENCE_MS = 500;

/**
 * Never throws, and never exceeds the time limit and the grace: a tool is often a script that starts the real one, which
 * would continue and hold its output open if only the script were killed. What it leaves running when it ends by itself is
 * not waited for.
 */
export async function askProgram(question: Question): Promise<StreamedAnswer> {
  const { abort, env = process.env, graceMs = 0, group = false, stdout = "answer" } = question;
  const { argv, cwd, guarded = group, limitMs, maxBytes = MAX_ANSWER_BYTES } = question;
  const [program = "", ...args] = argv;
  const target = typeof stdout === "string" ? undefined : stdout;
  const guard = guarded ? openGuard() : undefined;
  const child = execa(program, args, {
    ...(cwd !== undefined && { cwd }),
    env,
    extendEnv: false,
    stdin: "ignore",
    stdout: stdout === "nowhere" ? "ignore" : "pipe",
    all: stdout === "with stderr",
    buffer: { stdout: target === undefined, stderr: true, all: true },
    maxBuffer: maxBytes,
    stripFinalNewline: false,
    reject: false,
    detached: group,
    cleanup: !group,
  });
  if (child.pid !== undefined) guard?.watch(group ? -child.pid : child.pid);
  const written = target && child.stdout ? copied(child.stdout, target) : undefined;
  if (target === undefined) closeWhenSilent(child);
  const givingUp = giveUpOn(child, { abort, graceMs, group, limitMs });
  try {
    const result = await Promise.race([child, givingUp.killed]);
    const unwritten = await written;
    const reason = givingUp.why();
    if (result === undefined)
      return { failed: true, why: reason ?? "", isGivenUp: true, stdout: "", stderr: "" };
    const why = reason ?? whyFailed(result, maxBytes);
    const { code, exitCode, signal } = result;
    return {
      failed: why !== "",
      why,
      isGivenUp: reason !== undefined || result.isMaxBuffer,
      stdout: (stdout === "with stderr" ? result.all : result.stdout) ?? "",
      stderr: result.stderr ?? "",
      ...(exitCode !== undefined && { exitCode }),
      ...(signal !== undefined && { signal: signal as Signal }),
      ...(code !== undefined && child.pid === undefined && { code }),
      ...(unwritten !== undefined && { unwritten }),
    };
  } finally {
    givingUp.release();
    guard?.release();
  }
}

interface Ended {
  readonly failed: boolean;
  readonly isMaxBuffer: boolean;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly code?: string | undefined;
  readonly originalMessage?: string | undefined;
  readonly shortMessage?: string | undefined;
}

function whyFailed(ended: Ended, maxBytes: number): string {
  if (!ended.failed) return "";
  if (ended.isMaxBuffer) return tooLong(maxBytes);
  const { exitCode, signal } = ended;
  if (signal !== undefined || exitCode !== undefined)
    return endProblem({
      ...(exitCode !== undefined && { exitCode }),
      ...(signal !== undefined && { signal: signal as Signal }),
    });
  return startProblem(ended.code, ended.originalMessage ?? ended.shortMessage ?? "it failed");
}

type Child = Pick<
  ReturnType<typeof execa>,
  "pid" | "kill" | "unref" | "once" | "stdout" | "stderr" | "exitCode"
>;

/** Ends a program for its time or when nobody wants its answer. */
function giveUpOn(
  child: Child,
  {
    abort,
    graceMs,
    group,
    limitMs,
  }: Required<Pick<Question, "graceMs" | "group">> & {
    readonly abort: AbortSignal | undefined;
    readonly limitMs: number | undefined;
  },
) {
  let why: string | undefined;
  let onKilled = (_: undefined): void => {};
  const killed = new Promise<undefined>((settle) => {
    onKilled = settle;
  });
  const { pid } = child;
  const abandon = (): void => {
    child.stdout?.destroy();
    child.stderr?.destroy();
    // One that waits for a device does not even end when it is killed.
    child.unref();
    onKilled(undefined);
  };
  const ending =
    pid === undefined
      ? undefined
      : openEnding(pid, { graceMs, reach: group ? "group" : "process", onKill: abandon });
  const kill = (): void => ending?.kill();
  const giveUp = (reason: string): void => {
    if (why !== undefined || ending === undefined) return;
    why = reason;
    if (graceMs > 0) ending.end("SIGTERM");
    else {
      kill();
      abandon();
    }
  };
  const onAbort = (): void => giveUp("its answer is no longer waited for");
  const timer =
    limitMs === undefined ? undefined : setTimeout(() => giveUp(tooLate(limitMs)), limitMs);
  // Signals of a terminal do not reach a group of its own.
  if (group) process.once("exit", kill);
  if (abort?.aborted === true) onAbort();
  else abort?.addEventListener("abort", onAbort, { once: true });
  return {
    killed,
    why: () => why,
    release() {
      clearTimeout(timer);
      ending?.release();
      process.off("exit", kill);
      abort?.removeEventListener("abort", onAbort);
    },
  };
}

function copied(from: NodeJS.ReadableStream, to: Writable) {
  return pipeline(from, to).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
}

/** Closes the output of a program that has ended, once nothing more comes: its children may hold it open forever. */
function closeWhenSilent(child: Child): void {
  const pipes = [child.stdout, child.stderr].filter((pipe) => pipe !== null && pipe !== undefined);
  let pieces = 0;
  let timer: NodeJS.Timeout | undefined;
  const watch = (): void => {
    const piecesSeen = pieces;
    const judge = (): void => {
      if (pieces !== piecesSeen) watch();
      else for (const pipe of pipes) pipe.destroy();
    };
    // In a process that was busy, what has come is read only after its timers.
    timer = setTimeout(() => setImmediate(judge), SILENCE_MS);
  };
  child.once("exit", () => {
    for (const pipe of pipes) pipe.on("data", () => pieces++);
    watch();
  });
  child.once("close", () => clearTimeout(timer));
}
