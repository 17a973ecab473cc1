import { readFileSync, type Stats, statSync } from "node:fs";

/** What may be found in place of a file. Opening a pipe can block for ever, and a device may never end. */
const OTHERS: readonly (readonly [is: (status: Stats) => boolean, name: string])[] = [
  [(status) => status.isFIFO(), "a pipe"],
  [(status) => status.isSocket(), "a socket"],
  [(status) => status.isCharacterDevice() || status.isBlockDevice(), "a device"],
];

/**
 * Checks a path before opening it: for files that are read more than once or not in order.
 *
 * @throws an error like the system's for anything but a file or a directory, and the system's own errors
 */
export function requireFile(path: string): Stats {
  const status = statSync(path);
  refuseOther(status, path);
  return status;
}

/**
 * The whole text of a file, as UTF-8.
 *
 * @throws as `requireFile`, and the system's errors
 */
export function readText(path: string): string {
  requireFile(path);
  return readFileSync(path, "utf8");
}

/** Like `refuseOther`, but allows pipes and sockets, whose data end some time. */
export function refuseDevice(status: Stats, path: string): void {
  if (!status.isFIFO() && !status.isSocket()) refuseOther(status, path);
}

/**
 * Like `requireFile`, for a status already at hand.
 *
 * @throws an error like the system's for anything but a file or a directory
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
