/** The files that a run needs: the limit on open files, and temporary directories. */
import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { errorCode, fileProblem } from "../../foundation/system/files.ts";

/**
 * Enough for several programs in parallel with pipes for their output; nearly everywhere a process may open at least
 * 256.
 */
const NEEDED = 32;

/**
 * To be called before programs are started: if there is no descriptor for a pipe, Node throws an error that cannot be
 * caught.
 *
 * @throws ConfigError `app.system` if so many more files cannot be opened
 */
export function requireOpenFiles(): void {
  const code = refusalOf(NEEDED);
  if (code === null) return;
  throw new ConfigError({
    code: "app.system",
    message: `Programs cannot be started: the limit of open files is too low${code === "EMFILE" ? ownLimit() : " on this machine"}`,
    hint: "raise the limit of open files, e.g. ulimit -n 1024",
  });
}

/** Why so many files cannot be opened; null if they can. */
function refusalOf(count: number): "EMFILE" | "ENFILE" | null {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, "r"));
    return null;
  } catch (error) {
    const code = errorCode(error);
    if (code === "EMFILE" || code === "ENFILE") return code;
    throw error;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** The limit of this process, which only Linux reports. */
function ownLimit(): string {
  try {
    const [, limit] =
      /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? "" : `: this process may open ${limit}`;
  } catch {
    return "";
  }
}

/**
 * Makes a directory for temporary files. The caller removes it.
 *
 * @param prefix the beginning of its name
 * @throws ConfigError `profile.input` if it cannot be made
 */
export function makeTemporaryDirectory(prefix: string): string {
  const place = tmpdir();
  try {
    return mkdtempSync(join(place, prefix));
  } catch (cause) {
    throw new ConfigError({
      code: "profile.input",
      message: `Cannot create a temporary directory in '${place}': ${fileProblem(cause)}`,
      hint: "set TMPDIR to a writable directory with free space",
      cause,
    });
  }
}
