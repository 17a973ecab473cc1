import { readdirSync } from "node:fs";
import { statOf } from "./other-namespace.ts";
import { errorCode } from "./system-error.ts";

/** Sends a signal to a process group. Does nothing if the group is gone or belongs to another user. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    // The group ended in the meantime, or belongs to another user (sudo). Callers are timers and
    // listeners, which must survive that.
    const code = errorCode(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/**
 * The process groups of a process's descendants, except its own group. Profilers start programs in
 * separate groups, which a signal to the profiler's group does not reach. Empty without /proc.
 */
export function groupsBelow(pid: number): readonly number[] {
  const own = statOf(String(pid))?.group;
  const groups = new Set(descendantsOf(pid).map(({ group }) => group));
  return [...groups].filter((group) => group !== own && group !== pid);
}

/** The ids of a process's descendants, in no particular order. Empty without /proc. */
export const processesBelow = (pid: number): readonly number[] =>
  descendantsOf(pid).map((process) => process.pid);

/**
 * Suspends a process group and the groups of its leader's descendants.
 *
 * @returns resumes them
 */
export function suspendGroups(leader: number): () => void {
  // First, because a suspended process starts no more children.
  signalGroup(leader, "SIGSTOP");
  const groups = [leader, ...groupsBelow(leader)];
  for (const group of groups) signalGroup(group, "SIGSTOP");
  return () => {
    for (const group of groups.toReversed()) signalGroup(group, "SIGCONT");
  };
}

/** Resumes a process group, which may be suspended, and the groups of its leader's descendants. */
export function resumeGroups(leader: number): void {
  for (const group of [...groupsBelow(leader), leader]) signalGroup(group, "SIGCONT");
}

function descendantsOf(pid: number): readonly RunningProcess[] {
  const processes = runningProcesses();
  const below = new Set([pid]);
  // Process ids wrap around, so a parent may be listed after its child.
  for (let before = 0; before < below.size; ) {
    before = below.size;
    for (const process of processes) if (below.has(process.parent)) below.add(process.pid);
  }
  return processes.filter((process) => process.pid !== pid && below.has(process.pid));
}

interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

function runningProcesses(): readonly RunningProcess[] {
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = statOf(name);
      return stat === undefined ? [] : [{ pid: Number(name), ...stat }];
    });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
