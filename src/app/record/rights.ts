/** The rights of the files of a record, where several users share a sweep. */
import { chmodSync, statSync } from "node:fs";
import { isSystemError, makeDirectory } from "../../foundation/system/files.ts";

/** The mode bits of what a sweep's record consists of. */
export interface RecordRights {
  readonly folder: number;
  readonly file: number;
}

/** Only the user may read the record of a sweep, unless `hydra.sweep.mode` says otherwise. */
const OWN_FOLDER = 0o700;
const OWN_FILE = 0o600;

/**
 * The rights of the record's files and folders, which follow those of `.sweep` itself: so all processes of a sweep, on
 * whatever machine and with whatever umask, give the same.
 */
export function recordRights(folder: string): RecordRights {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? OWN_FOLDER;
  return { folder: (mode & 0o777) | OWN_FOLDER, file: (mode & 0o666) | OWN_FILE };
}

/**
 * Makes the folder of a sweep's record.
 *
 * @param mode of `hydra.sweep.mode`, whose rights are given in addition; undefined for none
 */
export function makeRecordFolder(folder: string, mode: number | undefined): void {
  makeDirectory(folder);
  setMode(folder, OWN_FOLDER | (mode ?? 0));
}

/** Makes a folder within the record. */
export function makeInnerFolder(folder: string, inner: string): void {
  // A failing `mkdir` takes longer than this check.
  if (statSync(inner, { throwIfNoEntry: false }) === undefined && makeDirectory(inner))
    setMode(inner, recordRights(folder).folder);
}

/**
 * Gives others the rights that `hydra.sweep.mode` gave them to the record, in addition to the umask's: for logs and tables, which
 * are the output of programs.
 */
export function shareFile(folder: string, file: string): void {
  const others = recordRights(folder).file & 0o066;
  if (others !== 0) setMode(file, (statSync(file).mode & 0o777) | others);
}

/** Some file systems know no rights, and the folder may be another user's: the record is readable all the same. */
function setMode(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
