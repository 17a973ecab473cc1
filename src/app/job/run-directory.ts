import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../values/errors.ts";

/**
 * Makes the directory of a run. Results of two runs in one directory would be read as one, so a
 * directory that already holds any of the program's results is refused; one that holds only the
 * configuration of an earlier attempt is not.
 *
 * @throws ConfigError `app.run_directory`
 */
export function makeRunDirectory(path: string, resultFiles: readonly string[]): void {
  const results = resultFiles.filter((name) => existsSync(join(path, name)));
  if (results.length > 0)
    throw new ConfigError({
      code: "app.run_directory",
      message: `The run directory '${path}' holds the results of another run: ${results.join(", ")}`,
      key: "hydra.run.dir",
      hint: "choose another with hydra.run.dir=DIR, or move that one away",
    });
  if (existsSync(path) && !statSync(path).isDirectory())
    throw unusable(path, "a file stands in its place");
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw unusable(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function unusable(path: string, reason: string, cause?: unknown): ConfigError {
  return new ConfigError({
    code: "app.run_directory",
    message: `The run directory '${path}' cannot be made: ${reason}`,
    key: "hydra.run.dir",
    ...(cause === undefined ? {} : { cause }),
  });
}
