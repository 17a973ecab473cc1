import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** Names a process so that another one which gets the same number later is not taken for it. */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** Boot and start time of the process, in the kernel's words; null where it does not tell. */
  readonly birth: string | null;
}

export const identityOf = (pid: number): ProcessIdentity => ({
  host: hostname(),
  pid,
  birth: birthOf(pid),
});

let own: ProcessIdentity | undefined;

/** A fact that never changes, asked of the system once: every job of a sweep names it. */
export function thisProcess(): ProcessIdentity {
  own ??= identityOf(process.pid);
  return own;
}

/** Whether a process still runs; `elsewhere` for one of another host, which cannot be asked. */
export function isRunning({ birth, host, pid }: ProcessIdentity): boolean | "elsewhere" {
  if (host !== hostname()) return "elsewhere";
  return isAlive(pid) && (birth === null || birthOf(pid) === birth);
}

/** Signal 0 only asks; a process of another user is alive and refuses the question. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Linux tells both; a process that is dead but not waited for counts as gone. */
function birthOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; state is the first field after it, start the 20th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return "dead";
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`;
  } catch {
    return null;
  }
}

/** How long a process that was asked to end may take before it is killed. */
export const GRACE_MS = 10_000;

/** Signals the processes of a group by its leader, which may have ended by itself. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
