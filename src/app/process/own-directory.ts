import { statSync, writeSync } from "node:fs";

/**
 * The directory that this process is in. Where that has no name, since it was removed, or none that Node can say, nothing
 * that a program is given or leaves behind would have a place: the process ends, with a line and exit code 1.
 */
export function ownDirectory(): string {
  let path: string;
  try {
    path = process.cwd();
  } catch {
    return end("The current directory was removed\n  Hint: change to one that is there (cd)\n");
  }
  return isWholeName(path)
    ? path
    : end(
        `The name of the current directory is not UTF-8: ${path}\n  Hint: rename it, or change to another one (cd)\n`,
      );
}

/** What is no UTF-8 is read as U+FFFD, which names another directory, or none: results would be written there. */
function isWholeName(path: string): boolean {
  if (!path.includes("\uFFFD")) return true;
  const named = statSync(path, { throwIfNoEntry: false });
  const here = statSync(".");
  return named !== undefined && named.ino === here.ino && named.dev === here.dev;
}

function end(message: string): never {
  try {
    writeSync(2, message);
  } catch {
    // There is nobody left to tell.
  }
  return process.exit(1);
}
