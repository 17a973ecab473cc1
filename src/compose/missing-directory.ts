import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const MAX_NAMES = 5;

/**
 * What to do where a directory of configs is not there: a file of one was named instead, or the
 * configs stand in a directory beside it.
 */
export function missingDirectoryHint(path: string): string {
  if (isFile(path)) {
    const name = basename(path).replace(/\.yaml$/, "");
    return `this is a file: --config-path gives the config directory, --config-name the config in it (-cp ${dirname(path)} -cn ${name})`;
  }
  const beside = configDirectories(dirname(path));
  return beside.length === 0
    ? "--config-path DIR (-cp) gives the config directory"
    : `--config-path DIR (-cp) gives the config directory; YAML files are in: ${beside.join(", ")}`;
}

/** Directories that hold YAML files, by name. */
function configDirectories(parent: string): readonly string[] {
  return entriesOf(parent)
    .filter((name) => !/^(\.|node_modules$)/.test(name))
    .filter((name) => entriesOf(join(parent, name)).some((file) => file.endsWith(".yaml")))
    .slice(0, MAX_NAMES);
}

/** None of what is not there, is no directory or may not be read. */
function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
