import { readFileSync, type Stats, statSync } from "node:fs";

/** What can stand where a file is expected. To open a pipe may wait for ever; a device may never end. */
const OTHERS: readonly (readonly [is: (status: Stats) => boolean, name: string])[] = [
  [(status) => status.isFIFO(), "a pipe"],
  [(status) => status.isSocket(), "a socket"],
  [(status) => status.isCharacterDevice() || status.isBlockDevice(), "a device"],
];

/**
 * Before a file is opened that is read in several places, or more than once.
 *
 * @throws like the system, for what is neither a file nor a directory; the system's own errors where
 *   there is nothing
 */
export function requireFile(path: string): Stats {
  const status = statSync(path);
  refuseOther(status, path);
  return status;
}

/**
 * The text of such a file.
 *
 * @throws as above, and the system's errors of reading
 */
export function readText(path: string): string {
  requireFile(path);
  return readFileSync(path, "utf8");
}

/** As `requireFile`, of devices alone: what comes out of a pipe ends. */
export function refuseDevice(status: Stats, path: string): void {
  if (!status.isFIFO() && !status.isSocket()) refuseOther(status, path);
}

/**
 * As `requireFile`, of what has been looked at.
 *
 * @throws like the system, for what is neither a file nor a directory
 */
export function refuseOther(status: Stats, path: string): void {
  const other = OTHERS.find(([is]) => is(status));
  if (other !== undefined)
    throw Object.assign(new Error(`it is ${other[1]}, not a file`), {
      code: "ERR_NOT_A_FILE",
      syscall: "open",
      path,
    });
}
