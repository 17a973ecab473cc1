/** What a run of `deep-profile` left behind, as files to import. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import { COLLECTOR_NAMES } from "../collection/collector-names.ts";
import { isReportName } from "../ncu/rep/compressed.ts";
import { FILE_SUFFIX } from "../recording/index.ts";
import { RUN_FILE } from "../run/result-files.ts";

/** What to import, by a name from the working directory. */
export interface NamedSource {
  readonly name: string;
  /** The run whose repeats this is one of, as it was given; null for what stands for itself. */
  readonly repeatOf: string | null;
}

/**
 * What to import for a name that was given: of the directory of a run, the recording, the
 * export (or report) of nsys and the reports of ncu in it; anything else as it is.
 *
 * @throws ConfigError `profile.input` for a run that left none of them
 */
export function sourcesOfRun(name: string, cwd: string): readonly NamedSource[] {
  const directory = resolve(cwd, name);
  if (!isRun(directory)) return [{ name, repeatOf: null }];
  const found = [...recordings(directory), ...exportsOfNsys(directory), ...reportsOfNcu(directory)];
  if (found.length === 0)
    throw new ConfigError({
      code: "profile.input",
      message: `${name} is a run directory in which nothing was recorded`,
      hint: `deep-profile report ${name} rebuilds the reports of a run if it can`,
    });
  return found.map((file) => ({
    name: join(name, file),
    repeatOf: REPEAT.test(file) ? name : null,
  }));
}

/** With `repeats=N` a collector works in a folder for each run; others are of warm-up runs. */
const REPEAT = /^\w+[/\\]repeats[/\\]\d+(?:[/\\]|$)/;

const foldersOf = (run: string, collector: string): readonly string[] => [
  collector,
  ...filesIn(run, join(collector, "repeats"), (name) => /^\d+$/.test(name)),
];

/** A run that was interrupted has no record of its own yet, but the folders of its collectors. */
const isRun = (directory: string): boolean =>
  existsSync(join(directory, RUN_FILE)) ||
  (existsSync(join(directory, "config.yaml")) &&
    COLLECTOR_NAMES.some((folder) => existsSync(join(directory, folder))));

const recordings = (run: string): readonly string[] =>
  foldersOf(run, "recorder").filter(
    (folder) => filesIn(run, folder, (file) => file.endsWith(FILE_SUFFIX)).length > 0,
  );

/** The export is quick to read and needs no nsys. */
const exportsOfNsys = (run: string): readonly string[] =>
  foldersOf(run, "nsys").flatMap((folder) => {
    const exported = filesIn(run, folder, (file) => file.endsWith(".sqlite"));
    return exported.length > 0
      ? exported
      : filesIn(run, folder, (file) => file.endsWith(".nsys-rep"));
  });

const reportsOfNcu = (run: string): readonly string[] => filesIn(run, "ncu", isReportName);

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
