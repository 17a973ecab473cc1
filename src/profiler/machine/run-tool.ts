/** Runs programs for their output: short queries with a time limit, and tools that read recordings, with progress. */

import { statSync } from "node:fs";
import { clearInterval, setInterval, setTimeout } from "node:timers";
import { execa } from "execa";
import type { Signal } from "../../foundation/system/platform-types.ts";
import { openGuard } from "../../foundation/system/process-guard.ts";
import {
  groupsBelow,
  processesBelow,
  signalGroup,
} from "../../foundation/system/process-signals.ts";

// Queries: programs that print an answer.

export interface Question {
  readonly timeoutMs: number;
  /** Variables to add to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** A longer answer counts as a failure; default 1 MB. */
  readonly maxBytes?: number;
}

export interface Answer {
  readonly failed: boolean;
  /** Why it failed; empty if it did not. */
  readonly why: string;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_BYTES = 1e6;

/**
 * Never throws, and never exceeds the time limit: a tool is often a script that starts the real one, which continues
 * and holds its output open if only the script is killed.
 */
export async function askProgram(
  [program = "", ...args]: readonly string[],
  { timeoutMs, env = {}, maxBytes = MAX_BYTES }: Question,
): Promise<Answer> {
  const child = execa(program, args, {
    env,
    stdin: "ignore",
    reject: false,
    maxBuffer: maxBytes,
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    // Collected before the child ends: then its children get another parent.
    const below = child.pid === undefined ? [] : processesBelow(child.pid);
    child.kill("SIGKILL");
    for (const pid of below) kill(pid);
    child.stdout.destroy();
    child.stderr.destroy();
  }, timeoutMs);
  try {
    const { failed, stdout, stderr, shortMessage } = await child;
    const why = isLate ? `it did not answer within ${timeoutMs / 1000} s` : (shortMessage ?? "");
    return { failed: failed || isLate, why, stdout: stdout ?? "", stderr: stderr ?? "" };
  } finally {
    clearTimeout(timer);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

// Tools that read recordings: `nsys export`, `nsys stats`, `ncu --import`.

/** How to wait for a slow tool. */
export interface ToolControl {
  /** Ends the tool and its children. */
  readonly stop: AbortSignal;
  /** Called at intervals while the tool runs. */
  readonly say: (line: string) => void;
  /** The interval in milliseconds; default one minute. */
  readonly everyMs?: number;
}

export interface ToolWork {
  /** In words, e.g. `exporting run.nsys-rep with nsys`. */
  readonly doing: string;
  /** The file that the tool writes, whose growth shows its progress. */
  readonly output?: string;
}

const MINUTE_MS = 60_000;

/** How long a tool may take to end after a signal, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * Waits for a tool that leads a process group. A report of gigabytes takes it an unpredictable time, so there is no
 * time limit, but the user sees its progress.
 *
 * @param pid undefined if it could not be started
 * @returns the tool's result
 */
export async function runWithProgress<T>(
  tool: PromiseLike<T> & { readonly pid?: number | undefined },
  work: ToolWork,
  control: ToolControl,
): Promise<T> {
  const progress = reportProgress(work, control);
  const end = endOnAbort(tool.pid, control.stop);
  try {
    return await tool;
  } finally {
    end.dispose();
    progress.dispose();
  }
}

function reportProgress({ doing, output }: ToolWork, { say, everyMs = MINUTE_MS }: ToolControl) {
  const started = performance.now();
  const timer = setInterval(() => {
    const minutes = Math.round((performance.now() - started) / MINUTE_MS);
    const written = output === undefined ? null : sizeOf(output);
    const size = written === null ? "" : `, ${Math.round(written / 1e6)} MB written`;
    say(`still ${doing}: ${minutes} min${size}`);
  }, everyMs);
  return { dispose: () => clearInterval(timer) };
}

const sizeOf = (file: string): number | null =>
  statSync(file, { throwIfNoEntry: false })?.size ?? null;

function endOnAbort(pid: number | undefined, stop: AbortSignal) {
  let timer: NodeJS.Timeout | undefined;
  // Kept: a process whose parent has ended cannot be found again.
  const groups = new Set<number>();
  const signalAll = (signal: Signal) => {
    if (pid === undefined) return;
    for (const group of [pid, ...groupsBelow(pid)]) groups.add(group);
    for (const group of groups) signalGroup(group, signal);
  };
  const kill = () => signalAll("SIGKILL");
  // Terminal signals do not reach it, because it has its own group, and nobody else waits for what it writes.
  const guard = openGuard();
  if (pid !== undefined) guard.watch(-pid);
  const end = () => {
    signalAll("SIGTERM");
    timer = setTimeout(kill, GRACE_MS);
  };
  if (stop.aborted) end();
  else stop.addEventListener("abort", end, { once: true });
  return {
    dispose: () => {
      clearTimeout(timer);
      guard.release();
      stop.removeEventListener("abort", end);
    },
  };
}
