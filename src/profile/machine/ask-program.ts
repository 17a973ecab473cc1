/** Asks a program for something that it prints. */
import { setTimeout } from "node:timers";
import { execa } from "execa";
import { processesBelow } from "../../system/process-signals.ts";

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
