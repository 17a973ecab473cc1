import { type Dirent, readdirSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";

/**
 * The files that the value of an override may go on to, where it begins as a path does (`.`, `/`,
 * `\`); undefined for other values.
 */
export function matchFiles(word: string, cwd: string): readonly string[] | undefined {
  const equals = word.lastIndexOf("=");
  const path = word.slice(equals + 1);
  if (equals < 0 || !/^[./\\]/.test(path)) return undefined;
  const key = word.slice(0, equals + 1);
  // In Hydra a name alone is in no directory, though one may be named.
  if (!path.includes("/") && !isDirectory(inside(cwd, path))) return [];
  return filesAt(path, cwd).map(({ path: file }) => `${key}${file}`);
}

/** A file or directory that a path may go on to, written as the path was. */
export interface FileMatch {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** What is in a directory, or what begins as the last part of the path does. */
export function filesAt(path: string, cwd: string): readonly FileMatch[] {
  const [directory, prefix] = isDirectory(inside(cwd, path))
    ? [path, ""]
    : [dirnameOf(path), path.endsWith("/") ? "" : basename(path)];
  return entriesOf(inside(cwd, directory))
    .filter(({ name }) => name.startsWith(prefix))
    .map((entry) => ({
      path: joined(directory, entry.name),
      isDirectory: entry.isDirectory() || isDirectory(join(inside(cwd, directory), entry.name)),
    }));
}

/** The system follows `a/..` only where there is an `a`. */
const inside = (cwd: string, path: string): string => (isAbsolute(path) ? path : `${cwd}/${path}`);

/** As Python's: a name alone has no directory, and `a/` has `a`, whether it is there or not. */
const dirnameOf = (path: string): string =>
  path.endsWith("/") ? path.replace(/(?<=[^/])\/+$/, "") : path.includes("/") ? dirname(path) : "";

const joined = (directory: string, name: string): string =>
  directory === "" || directory.endsWith("/") ? `${directory}${name}` : `${directory}/${name}`;

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // What cannot be read has nothing to offer.
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
