/** The files of a sweep's record. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The folder in a sweep's directory that describes the sweep and the outcome of its jobs:
 *
 *     .sweep/manifest.json        what the sweep is; written before the first job starts
 *     .sweep/manifest-<id>.jsonl  its jobs, a line each; those of a batch are added before the first of them starts
 *     .sweep/manifest-<id>.jsonl.<count>  an empty file: how many lines that has at least
 *     .sweep/launcher.json        the current launcher
 *     .sweep/launcher.log         the output of a detached launcher (`--detach`)
 *     .sweep/cancelled            while the sweep is being cancelled
 *     .sweep/<launcher>/          a launcher's own notes: its submissions to a scheduler
 *     .sweep/jobs/<number>.json   the state of a job; written by its worker
 *     .sweep/started/<number>.json  the state as its last attempt began: if the other is gone, the job has started
 *     .sweep/jobs/<number>.pruned  the step at which the pruner of a search has asked the job to end
 *     .sweep/jobs/<number>.log    the output of a job that ran in its own process
 */
export const SWEEP_FOLDER = ".sweep";

export const sweepFolder = (directory: string): string => join(directory, SWEEP_FOLDER);
export const manifestFile = (folder: string): string => join(folder, "manifest.json");
/** The name of a job list; each list has its own id. */
export const jobListName = (id: string): string => `${STEM}${id}.jsonl`;
/** A manifest or a list that is still being written. */
export const draftFile = (folder: string, id: string): string => join(folder, `${STEM}${id}.draft`);
/** The names of all lists and drafts in a folder. */
export const listsAndDrafts = (names: readonly string[]): readonly string[] =>
  names.filter((name) => name.startsWith(STEM));
const STEM = "manifest-";
/** @param name the name in the manifest */
export const jobListFile = (folder: string, name: string): string => join(folder, name);
export const launcherFile = (folder: string): string => join(folder, "launcher.json");
export const launcherLog = (folder: string): string => join(folder, "launcher.log");
export const cancelledFile = (folder: string): string => join(folder, "cancelled");
export const jobsFolder = (folder: string): string => join(folder, "jobs");
/** The slots of a sweep's jobs, if the sweep shares none with other sweeps. */
export const slotsFolder = (folder: string): string => join(folder, "slots");
/** Names that a launcher cannot have. */
export const RESERVED_FOLDERS: readonly string[] = ["jobs", "slots", "started"];
/** A launcher's own notes. @param name of the launcher */
export const launcherFolder = (folder: string, name: string): string => join(folder, name);

/** The folders for notes of all launchers that the sweep has had. */
export function launcherFolders(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !RESERVED_FOLDERS.includes(entry.name))
    .map(({ name }) => join(folder, name));
}

export const jobFile = (folder: string, number: number): string =>
  join(jobsFolder(folder), `${number}.json`);
/** The trace that a job has started, apart from its state. */
export const startedFolder = (folder: string): string => join(folder, "started");
export const startedFile = (folder: string, number: number): string =>
  join(startedFolder(folder), `${number}.json`);
/** The step at which the pruner of a search has asked a job's last attempt to end; absent if it has not. */
export const prunedFile = (folder: string, number: number): string =>
  join(jobsFolder(folder), `${number}.pruned`);
export const jobLog = (folder: string, number: number): string =>
  join(jobsFolder(folder), `${number}.log`);
