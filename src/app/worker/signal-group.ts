import { readdirSync } from "node:fs";
import { statOf } from "../../other-namespace.ts";

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

/**
 * Stops a process group, and those of all that its leader has started, which may lead groups of their own.
 *
 * @returns lets them go on
 */
export function suspendGroups(leader: number): () => void {
  // First: what stands still starts nothing any more.
  signalGroup(leader, "SIGSTOP");
  const groups = [leader, ...groupsBelow(leader)];
  for (const group of groups) signalGroup(group, "SIGSTOP");
  return () => {
    for (const group of groups.toReversed()) signalGroup(group, "SIGCONT");
  };
}

/** Lets a process group go on that may have been stopped, and those of all that its leader has started. */
export function resumeGroups(leader: number): void {
  for (const group of [...groupsBelow(leader), leader]) signalGroup(group, "SIGCONT");
}

/** Of the descendants of a process; none where the system does not tell. */
function groupsBelow(ancestor: number): readonly number[] {
  const found = new Set<number>();
  const all = processes();
  const visit = (pid: number): void => {
    for (const child of all.filter(({ parent }) => parent === pid)) {
      found.add(child.group);
      visit(child.pid);
    }
  };
  visit(ancestor);
  found.delete(ancestor);
  return [...found];
}

function processes() {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        const stat = statOf(name);
        return stat === undefined ? [] : [{ pid: Number(name), ...stat }];
      });
  } catch {
    return [];
  }
}
