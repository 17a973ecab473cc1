import { errorCode } from "../../system/files.ts";

/** How long a process that was asked to end may take before it is killed. */
export const GRACE_MS = 10_000;

/** Signals the processes of a group by its leader, which may have ended by itself; who may not do so is to know it. */
export function signalWorker(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
