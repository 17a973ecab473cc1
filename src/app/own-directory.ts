import { writeSync } from "node:fs";

/**
 * The directory that this process is in. One that was removed has no name, and nothing that a program is given
 * or leaves behind would have a place: the process ends, with a line and exit code 1.
 */
export function ownDirectory(): string {
  try {
    return process.cwd();
  } catch {
    try {
      writeSync(2, "The current directory was removed\n  Hint: change to one that is there (cd)\n");
    } catch {
      // There is nobody left to tell.
    }
    return process.exit(1);
  }
}
