/**
 * Runs programs for their answers: short questions with a time limit, and tools that read recordings, with their
 * progress.
 */

import { statSync } from "node:fs";
import { clearInterval, setInterval, setTimeout } from "node:timers";
import { execa } from "execa";
import { groupsBelow, processesBelow, signalGroup } from "../../system/process-signals.ts";

// Asks a program for something that it prints.

export interface Question {
  readonly timeoutMs: number;
  /** Beside the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** More than that is no answer; default 1 MB. */
  readonly maxBytes?: number;
}

export interface Answer {
  readonly failed: boolean;
  /** Why it failed, in words; empty where it did not. */
  readonly why: string;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_BYTES = 1e6;

/**
 * Never throws, and waits no longer than it is told: a tool is often a script that starts the real one, which goes on and
 * holds its output open when only the script is stopped.
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
    // Asked before it ends: then they have another parent.
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

// Tools that read what was recorded: `nsys export`, `nsys stats`, `ncu --import`.

/** How a tool that takes long is waited for. */
export interface ToolControl {
  /** Ends the tool, and what it started. */
  readonly stop: AbortSignal;
  /** Told once in a while that the tool still runs. */
  readonly say: (line: string) => void;
  /** How often, in milliseconds; default one minute. */
  readonly everyMs?: number;
}

export interface ToolWork {
  /** In words, e.g. `exporting run.nsys-rep with nsys`. */
  readonly doing: string;
  /** The file that grows meanwhile. */
  readonly output?: string;
}

const MINUTE_MS = 60_000;

/** What is told to end has so long for it, in milliseconds. */
const GRACE_MS = 2_000;

/**
 * Waits for a tool that leads a process group. A report of gigabytes takes it long, of unknown length: it has no
 * time limit, but who waits is told how far it is.
 *
 * @param pid undefined where it could not be started
 * @returns what it gave
 */
export async function runWithProgress<T>(
  tool: PromiseLike<T> & { readonly pid?: number | undefined },
  work: ToolWork,
  control: ToolControl,
): Promise<T> {
  const news = tellNews(work, control);
  const end = endOnAbort(tool.pid, control.stop);
  try {
    return await tool;
  } finally {
    end.dispose();
    news.dispose();
  }
}

function tellNews({ doing, output }: ToolWork, { say, everyMs = MINUTE_MS }: ToolControl) {
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
  // Kept: a process that loses its parent is found no longer.
  const groups = new Set<number>();
  const signalAll = (signal: NodeJS.Signals) => {
    if (pid === undefined) return;
    for (const group of [pid, ...groupsBelow(pid)]) groups.add(group);
    for (const group of groups) signalGroup(group, signal);
  };
  const kill = () => signalAll("SIGKILL");
  const end = () => {
    signalAll("SIGTERM");
    timer = setTimeout(kill, GRACE_MS);
  };
  // No signal of the terminal ends it then: it is in a group of its own.
  process.once("exit", kill);
  if (stop.aborted) end();
  else stop.addEventListener("abort", end, { once: true });
  return {
    dispose: () => {
      clearTimeout(timer);
      process.off("exit", kill);
      stop.removeEventListener("abort", end);
    },
  };
}
