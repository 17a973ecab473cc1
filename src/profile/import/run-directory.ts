/** What a run of `deep-profile` left behind, as files to import. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import { FILE_SUFFIX } from "../recording/index.ts";
import { RUN_FILE } from "../saved-run/document.ts";

/**
 * The names to import for a name that was given: of the directory of a run, the recording, the
 * export (or report) of nsys and the reports of ncu in it; anything else as it is.
 *
 * @throws ConfigError `profile.input` for a run that left none of them
 */
export function namesOfRun(name: string, cwd: string): readonly string[] {
  const directory = resolve(cwd, name);
  if (!isRun(directory)) return [name];
  const found = [...recordings(directory), ...exportsOfNsys(directory), ...reportsOfNcu(directory)];
  if (found.length === 0)
    throw new ConfigError({
      code: "profile.input",
      message: `${name} is the directory of a run in which nothing was recorded`,
      hint: `deep-profile report ${name} makes the reports of runs again, where it can`,
    });
  return found.map((file) => join(name, file));
}

/** A run that was interrupted has no record of its own yet, but the folders of its collectors. */
const isRun = (directory: string): boolean =>
  existsSync(join(directory, RUN_FILE)) ||
  (existsSync(join(directory, "config.yaml")) &&
    ["recorder", "nsys", "ncu"].some((folder) => existsSync(join(directory, folder))));

/** A run with `repeats=N` has a folder of recordings for each of them. */
function recordings(run: string): readonly string[] {
  const folders = ["recorder", ...filesIn(run, "recorder/repeats", () => true)];
  return folders.filter(
    (folder) => filesIn(run, folder, (file) => file.endsWith(FILE_SUFFIX)).length > 0,
  );
}

/** The export is quick to read and needs no nsys. */
function exportsOfNsys(run: string): readonly string[] {
  const exported = filesIn(run, "nsys", (file) => file.endsWith(".sqlite"));
  return exported.length > 0
    ? exported
    : filesIn(run, "nsys", (file) => file.endsWith(".nsys-rep"));
}

const reportsOfNcu = (run: string): readonly string[] =>
  filesIn(run, "ncu", (file) => file.endsWith(".ncu-rep"));

function filesIn(
  run: string,
  folder: string,
  wanted: (name: string) => boolean,
): readonly string[] {
  const path = join(run, folder);
  if (!existsSync(path) || !statSync(path).isDirectory()) return [];
  return readdirSync(path)
    .filter(wanted)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => join(folder, name));
}
