/** Files as candidates of completion. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute } from "node:path";

/**
 * The files that complete the value of an override, if it begins like a path (`.`, `/`, `\`); undefined for other
 * values.
 */
export function matchFiles(word: string, cwd: string): readonly string[] | undefined {
  const equals = word.lastIndexOf("=");
  const path = word.slice(equals + 1);
  if (equals < 0 || !/^[./\\]/.test(path)) return undefined;
  const key = word.slice(0, equals + 1);
  // In Hydra a bare name that is no directory has no matches.
  if (!path.includes("/") && !isDirectory(inside(cwd, path))) return [];
  return filesAt(path, cwd).map(({ path: file }) => `${key}${file}`);
}

/** A file or directory that completes a path, in the notation of the path. */
export interface FileMatch {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** The entries of a directory, or those that begin with the last part of the path. */
export function filesAt(path: string, cwd: string): readonly FileMatch[] {
  // `a/` names a directory, whether or not it exists.
  const isWhole = path.endsWith("/") || isDirectory(inside(cwd, path));
  const [directory, prefix] = isWhole ? [path, ""] : [dirnameOf(path), basename(path)];
  return entriesOf(inside(cwd, directory))
    .filter((name) => name.startsWith(prefix))
    .map((name) => joined(directory, name))
    .map((file) => ({ path: file, isDirectory: isDirectory(inside(cwd, file)) }));
}

/** Concatenated, because the system resolves `a/..` only if `a` exists. */
const inside = (cwd: string, path: string): string => (isAbsolute(path) ? path : `${cwd}/${path}`);

/** Python's `dirname`: a bare name has no directory. */
const dirnameOf = (path: string): string => (path.includes("/") ? dirname(path) : "");

const joined = (directory: string, name: string): string =>
  directory === "" || directory.endsWith("/") ? `${directory}${name}` : `${directory}/${name}`;

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // An unreadable directory has no matches.
    return [];
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
