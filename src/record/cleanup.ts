import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeDeadDrafts } from "../system/atomic-write.ts";
import { claimToOrder } from "./launcher-claim.ts";
import { jobsFolder, launcherFolders, listsAndDrafts } from "./layout.ts";
import { readListName } from "./manifest.ts";

/**
 * Removes all lists and drafts but one list: those of earlier launchers, one of which may have been killed before it could. Only
 * for who has claimed the sweep.
 *
 * @param kept the list that the manifest names
 */
export function removeUnlistedFiles(folder: string, kept: string | undefined): void {
  for (const name of abandonedFiles(folder, kept)) rmSync(join(folder, name), { force: true });
}

/** Removes what killed processes have left half written, whichever process drives the sweep: each job does so in its own directory. */
export function removeDraftsOfSweep(folder: string): void {
  for (const one of [dirname(folder), folder, jobsFolder(folder)]) removeDeadDrafts(one);
  for (const one of launcherFolders(folder)) removeDeadDrafts(one, { recursive: true });
}

/**
 * The same for a command that looks at a sweep without a driver. What has become a secret since it was written is masked in all that the
 * manifest names; so nothing of a record that was written anew stays, also where its launcher was killed in that very moment.
 *
 * @throws ConfigError `app.sweep_record` where there is no sweep
 */
export function tidyRecord(folder: string): void {
  removeDraftsOfSweep(folder);
  if (abandonedFiles(folder, readListName(folder)).length === 0) return;
  try {
    // Who drives it may be about to name what nothing names yet.
    const claim = claimToOrder(folder);
    if (claim === undefined) return;
    try {
      removeUnlistedFiles(folder, readListName(folder));
    } finally {
      claim.release();
    }
  } catch (error) {
    // Who may only look leaves it as it is.
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

const abandonedFiles = (folder: string, kept: string | undefined): readonly string[] =>
  listsAndDrafts(readdirSync(folder)).filter((name) => name !== kept);
