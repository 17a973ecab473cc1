/** Puts new reports into the place of old ones. */

import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { regionsFolder } from "../../report/report-files.ts";
import { makeDirectory } from "../../system/files.ts";

/** What the folder of a single region holds of ours. */
const REGION_FILES = ["report.json", "report.md", "raw.csv", "sections.txt"];

/**
 * Moves what was written into `staging` into the run's directory, file by file, each at once: a reader
 * sees an old report or a new one, never half of one. Both must be in one file system.
 *
 * @returns the new places of the files given
 */
export function publish(
  staging: string,
  runDirectory: string,
  files: readonly string[],
): readonly string[] {
  for (const file of filesBelow(staging)) {
    const place = join(runDirectory, relative(staging, file));
    makeDirectory(dirname(place));
    renameSync(file, place);
  }
  return files.map((file) => join(runDirectory, relative(staging, file)));
}

/** Folders of regions that the new reports do not have lose the files that an old report put there. */
export function removeStale(staging: string, runDirectory: string): void {
  for (const collector of foldersIn(staging)) removeStaleOf(collector, staging, runDirectory);
}

function removeStaleOf(collector: string, staging: string, runDirectory: string): void {
  const old = regionsFolder(join(runDirectory, collector));
  if (!existsSync(old)) return;
  for (const name of foldersIn(old)) {
    const fresh = join(regionsFolder(join(staging, collector)), name);
    for (const file of REGION_FILES)
      if (!existsSync(join(fresh, file))) rmSync(join(old, name, file), { force: true });
    // A user's own files stay where they are.
    if (readdirSync(join(old, name)).length === 0) rmdirSync(join(old, name));
  }
}

const foldersIn = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const filesBelow = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
