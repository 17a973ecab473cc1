import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./system-error.ts";

/**
 * Makes a directory and those above it that are missing; one that is there is fine. Used instead of
 * Node's `mkdir` with `recursive`, which never returns where the parent is there and answers ENOENT
 * all the same, as `/proc` does, or an automounter's directory whose host does not answer.
 *
 * @returns false: it was there
 * @throws the system's error, with its code, of the directory that could not be made
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

/** False as well where nobody can tell. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
