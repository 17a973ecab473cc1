import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./system-error.ts";

/**
 * Makes a directory and its missing parents. Replaces Node's recursive `mkdir`, which never returns where
 * the parent exists and yet the system answers ENOENT: in `/proc`, or below an automounter whose host is
 * unreachable.
 *
 * @returns false if the directory already existed
 * @throws the system's error about the directory that could not be made
 */
export function makeDirectory(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (isDirectory(path)) return false;
    const parent = dirname(path);
    if (errorCode(error) !== "ENOENT" || parent === path || isDirectory(parent)) throw error;
    makeDirectory(parent);
    return makeDirectory(path);
  }
}

/** Also false if that cannot be found out. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
