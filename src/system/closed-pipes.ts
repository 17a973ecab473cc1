import { writeSync } from "node:fs";

/**
 * Ignores a reader that closes its pipe early (`| head`), and a terminal that is gone. Other errors of the
 * output, such as a full disk, are reported in one line, and the exit code becomes 1. Calling this more than
 * once is harmless.
 */
export function tolerateClosedPipes(): void {
  for (const [stream, onError] of [
    [process.stdout, onOutputError],
    [process.stderr, onErrorsError],
  ] as const)
    if (!stream.listeners("error").includes(onError)) stream.on("error", onError);
}

const onOutputError = (error: NodeJS.ErrnoException): void => tell("standard output", error);
const onErrorsError = (error: NodeJS.ErrnoException): void => tell("standard error", error);

function tell(name: string, error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "EIO") return;
  process.exitCode = 1;
  // Report only the first failure: every further line fails likewise.
  if (process.listeners("exit").includes(fail)) return;
  process.once("exit", fail);
  complain(`${name} cannot be written: ${error.message}\n`);
}

const fail = (): void => {
  process.exitCode = 1;
};

/** Writes to the descriptor, because one of the streams has just failed. */
function complain(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // There is nobody left to tell.
  }
}
