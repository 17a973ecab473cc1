import { writeSync } from "node:fs";

/**
 * A reader that closes a pipe early (`| head`), or a terminal that is gone, is no error of ours. A
 * full disk behind an output is one: said in a line, and the exit code is 1. A process may ask for it any
 * number of times.
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
  // Each line that follows fails as the first did.
  if (process.listeners("exit").includes(fail)) return;
  process.once("exit", fail);
  complain(`${name} cannot be written: ${error.message}\n`);
}

const fail = (): void => {
  process.exitCode = 1;
};

/** Past the streams: one of them has just failed. */
function complain(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // There is nobody left to tell.
  }
}
