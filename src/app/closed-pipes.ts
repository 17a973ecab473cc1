import { writeSync } from "node:fs";

/**
 * A reader that closes a pipe early (`| head`), or a terminal that is gone, is no error of ours. A
 * full disk behind an output is one: said in a line, and the exit code is 1.
 */
export function tolerateClosedPipes(): void {
  for (const [name, stream] of [
    ["standard output", process.stdout],
    ["standard error", process.stderr],
  ] as const)
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE" || error.code === "EIO") return;
      process.exitCode = 1;
      process.once("exit", () => {
        process.exitCode = 1;
      });
      complain(`${name} cannot be written: ${error.message}\n`);
    });
}

/** Past the streams: one of them has just failed. */
function complain(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // There is nobody left to tell.
  }
}
