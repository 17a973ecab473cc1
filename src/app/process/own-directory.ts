import { statSync, writeSync } from "node:fs";

/**
 * The working directory of this process. If it was removed, or its name is not UTF-8, paths cannot be resolved or written:
 * then this ends the process with a message and exit code 1.
 */
export function ownDirectory(): string {
  let path: string;
  try {
    path = process.cwd();
  } catch {
    return end("The current directory was removed\n  Hint: change to an existing directory (cd)\n");
  }
  return isWholeName(path)
    ? path
    : end(
        `The name of the current directory is not UTF-8: ${path}\n  Hint: rename it, or change to another directory (cd)\n`,
      );
}

/** Node reads invalid UTF-8 as U+FFFD, which names another directory or none: results would be written to the wrong place. */
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
