import {
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { draftBeside, removeDeadDrafts } from "../../system/atomic-write.ts";
import { makeDirectory } from "../../system/files.ts";

/** A directory that gets its name, or its content, once that is whole. */
export interface DraftDirectory {
  /** Where to write meanwhile: absolute. */
  readonly path: string;
  /**
   * What was written stands in the directory itself.
   *
   * @param name another that it gets instead, beside it
   */
  finish(name?: string): void;
  /** Nothing of it is left, nor of the directories above it that were made for it. */
  discard(): void;
}

/**
 * Begins a directory: beside it, or in it where it is there already. Drafts of processes that were killed are removed
 * by the next that comes by.
 *
 * @param directory absolute
 * @throws the system's error, of the directory that could not be made; an error for a link that leads nowhere
 */
export function draftDirectory(directory: string): DraftDirectory {
  const isThere = isTaken(directory);
  const place = isThere ? directory : dirname(directory);
  const made = missingFrom(place);
  makeDirectory(place);
  removeDeadDrafts(place);
  const path = draftBeside(join(place, "draft"));
  makeDirectory(path);
  return {
    path,
    finish(name = directory) {
      if (isThere) moveInto(path, directory);
      else renameSync(path, name);
    },
    discard() {
      rmSync(path, { recursive: true, force: true });
      for (const above of made) if (!removedEmpty(above)) return;
    },
  };
}

/** What cannot get the name in the end is told of now: the name of a link, and one that is too long. */
function isTaken(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found?.isSymbolicLink() === true && !existsSync(directory))
    throw new Error(`it is a link to '${readlinkSync(directory)}', which does not exist`);
  return found !== undefined;
}

/** Those that are not there yet, the innermost first. */
function missingFrom(path: string): readonly string[] {
  const missing: string[] = [];
  for (let at = path; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  return missing;
}

/** Others may have written there meanwhile. */
function removedEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Directories that both have become one. */
function moveInto(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (statSync(source).isDirectory() && existsSync(target)) moveInto(source, target);
    else renameSync(source, target);
  }
  rmdirSync(from);
}
