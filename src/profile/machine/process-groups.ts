import { readdirSync, readFileSync } from "node:fs";

/**
 * The process groups that descendants of a process lead: profilers start programs in groups of their
 * own, which a signal to the profiler's group does not reach. Empty where there is no /proc.
 */
export const groupsBelow = (pid: number): readonly number[] =>
  descendantsOf(pid)
    .filter((process) => process.group === process.pid)
    .map((process) => process.pid);

/** Sends a signal to all of a group; none where it is gone, or another user's. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The group ended between the decision and the signal, or is another user's (what sudo started);
    // whoever waits in a timer or a listener must not end for that.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** The descendants of a process, in no order. Empty where there is no /proc. */
export const processesBelow = (pid: number): readonly number[] =>
  descendantsOf(pid).map((process) => process.pid);

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
      const status = contentOf(`/proc/${name}/stat`);
      // `pid (name) state parent group ...`: the name may hold anything, parentheses too.
      const [, parent, group] = status
        .slice(status.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      return parent === undefined || group === undefined
        ? []
        : [{ pid: Number(name), parent, group }];
    });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Empty for a process that has ended by now. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
