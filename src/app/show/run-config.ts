import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import type { ConfigNode } from "../../values/node.ts";
import { readYaml } from "../../values/yaml/reader.ts";

const PLACES = ["config.yaml", ".hydra/config.yaml"];

/**
 * The config that a run left in its directory: `config.yaml`, or Hydra's `.hydra/config.yaml`.
 * @throws ConfigError `app.run_directory` where there is none, and what the reader throws
 */
export function readRunConfig(directory: string, cwd: string): ConfigNode {
  const name = PLACES.map((place) => join(directory, place)).find((path) =>
    statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isFile(),
  );
  if (name === undefined)
    throw new ConfigError({
      code: "app.run_directory",
      message: `'${directory}' is not a run directory: it has no ${PLACES.join(" and no ")}`,
    });
  return readYaml(readFileSync(resolve(cwd, name), "utf8"), { name });
}

/** Whether the words of `--diff` name two runs: directories, or what can be no override. */
export const areRunDirectories = (words: readonly string[], cwd: string): boolean =>
  words.length === 2 &&
  words.every(
    (word) =>
      statSync(resolve(cwd, word), { throwIfNoEntry: false })?.isDirectory() === true ||
      !/[=]|^~/.test(word),
  );
