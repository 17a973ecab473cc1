/** The standard streams of a process: closed pipes, colours, width. */
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

const onOutputError = (error: NodeJS.ErrnoException): void => report("standard output", error);
const onErrorsError = (error: NodeJS.ErrnoException): void => report("standard error", error);

function report(name: string, error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "EIO") return;
  process.exitCode = 1;
  // Only the first failure is reported, because later lines fail likewise.
  if (process.listeners("exit").includes(fail)) return;
  process.once("exit", fail);
  complain(`${name} cannot be written: ${error.message}\n`);
}

const fail = (): void => {
  process.exitCode = 1;
};

/** Writes to the descriptor directly, because a stream has just failed. */
function complain(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Nobody reads standard error any more.
  }
}

/**
 * Whether a stream gets colours: a terminal, unless `NO_COLOR` is set and not empty (<https://no-color.org>) or the
 * terminal supports text only.
 */
export const takesColor = (
  { isTTY }: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean => isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";

/**
 * The terminal's width in columns: `COLUMNS` if it is set, as for Python's programs, else what the
 * terminal reports. Some terminals (in CI, in containers) report a width of 0; they count as 100.
 */
export function terminalWidth(
  env: Readonly<Record<string, string | undefined>>,
  columns: number | undefined = process.stdout.columns,
): number {
  const wanted = Number(env["COLUMNS"]);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : columns || 100;
}
