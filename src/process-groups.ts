import { readdirSync } from "node:fs";
import { statOf } from "./other-namespace.ts";
import { errorCode } from "./system-error.ts";

/** Sends a signal to all of a group; none where it is gone, or another user's. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    // The group ended between the decision and the signal, or is another user's (what sudo started);
    // whoever waits in a timer or a listener must not end for that.
    const code = errorCode(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/**
 * The process groups of what a process has started, but for its own: profilers start programs in groups
 * of their own, which a signal to the profiler's group does not reach. Empty where there is no /proc.
 */
export function groupsBelow(pid: number): readonly number[] {
  const own = statOf(String(pid))?.group;
  const groups = new Set(descendantsOf(pid).map(({ group }) => group));
  return [...groups].filter((group) => group !== own && group !== pid);
}

/** The descendants of a process, in no order. Empty where there is no /proc. */
export const processesBelow = (pid: number): readonly number[] =>
  descendantsOf(pid).map((process) => process.pid);

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

function descendantsOf(pid: number): readonly RunningProcess[] {
  const processes = runningProcesses();
  const below = new Set([pid]);
  // A parent may come after its child: process ids start over some day.
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
