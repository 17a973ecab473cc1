/** Files that a run needs: the limit of open ones, and temporary directories. */
import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode, fileProblem } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";

/** What several programs at a time take, with pipes for what they print; a process has 256 at least nearly everywhere. */
const NEEDED = 32;

/**
 * Before programs are started: Node gives a process for which there is no pipe an error that cannot be caught.
 *
 * @throws ConfigError `app.system` where so many files cannot be open beside those that are
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

/** Why so many files cannot be opened; null where they can. */
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

/** Only Linux tells. */
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
