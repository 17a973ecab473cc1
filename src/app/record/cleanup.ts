/** Removes what killed processes left in the record of a sweep. */
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeDeadDrafts } from "../../foundation/system/atomic-write.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import { isCountOf } from "../../foundation/system/sealed-json.ts";
import { claimToOrder } from "./launcher-claim.ts";
import { jobsFolder, launcherFolders, listsAndDrafts } from "./layout.ts";
import { readListName } from "./manifest.ts";

/**
 * Removes the job lists and drafts of earlier launchers, which may have been killed before they removed them. Only for
 * the process that has claimed the sweep.
 *
 * @param kept the job list that the manifest names
 */
export function removeUnlistedFiles(folder: string, kept: string): void {
  for (const name of abandonedFiles(folder, kept)) rmSync(join(folder, name), { force: true });
}

/**
 * Removes drafts of killed processes, whichever process drives the sweep. Each job removes those in its own directory.
 */
export function removeDraftsOfSweep(folder: string): void {
  for (const directory of [dirname(folder), folder, jobsFolder(folder)])
    removeDeadDrafts(directory);
  for (const directory of launcherFolders(folder)) removeDeadDrafts(directory, { recursive: true });
}

/**
 * Removes unlisted files for a command that reads a sweep without a driver. A text that has become a secret is masked
 * in every file that the manifest names; so no earlier version of a rewritten record stays, even if its launcher was
 * killed right after the rewrite.
 *
 * @throws ConfigError `app.sweep_record` if there is no sweep
 */
export function tidyRecord(folder: string): void {
  removeDraftsOfSweep(folder);
  if (abandonedFiles(folder, readListName(folder)).length === 0) return;
  try {
    // A driver may be about to name a list in the manifest.
    const claim = claimToOrder(folder);
    if (claim === undefined) return;
    try {
      removeUnlistedFiles(folder, readListName(folder));
    } finally {
      claim.release();
    }
  } catch (error) {
    // Without write permission, the record stays unchanged.
    if (!(isError(error) && "syscall" in error)) throw error;
  }
}

const abandonedFiles = (folder: string, kept: string): readonly string[] =>
  listsAndDrafts(readdirSync(folder))
    .filter((name) => name !== kept && !isCountOf(name, kept))
    // The count of a list has the list's name and more, and goes first.
    .toSorted()
    .reverse();
