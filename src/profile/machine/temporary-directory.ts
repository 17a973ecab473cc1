import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileProblem } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";

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
