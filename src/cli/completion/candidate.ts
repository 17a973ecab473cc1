import { readdirSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute } from "node:path";

/** One way in which the word under the cursor may go on. */
export interface Candidate {
  /** The whole word, without quotes. */
  readonly text: string;
  /** One line, for shells that show it. */
  readonly description?: string;
  /** More of the same word follows, so that no blank is put behind it. */
  readonly isOpen: boolean;
}

/** A word that ends so is a beginning: of a value, a key, a path, a package. */
export const candidate = (text: string, description?: string): Candidate => ({
  text,
  isOpen: /[=./@,]$/.test(text),
  ...(description !== undefined && description !== "" && { description: oneLine(description) }),
});

export const matching = (word: string, candidates: readonly Candidate[]): readonly Candidate[] =>
  candidates.filter(({ text }) => text.startsWith(word));

const MAX_LENGTH = 80;

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line;
}

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
  // `a/` is a directory's name, whether it is there or not.
  const isWhole = path.endsWith("/") || isDirectory(inside(cwd, path));
  const [directory, prefix] = isWhole ? [path, ""] : [dirnameOf(path), basename(path)];
  return entriesOf(inside(cwd, directory))
    .filter((name) => name.startsWith(prefix))
    .map((name) => joined(directory, name))
    .map((file) => ({ path: file, isDirectory: isDirectory(inside(cwd, file)) }));
}

/** The system follows `a/..` only where there is an `a`. */
const inside = (cwd: string, path: string): string => (isAbsolute(path) ? path : `${cwd}/${path}`);

/** As Python's: a name alone has no directory. */
const dirnameOf = (path: string): string => (path.includes("/") ? dirname(path) : "");

const joined = (directory: string, name: string): string =>
  directory === "" || directory.endsWith("/") ? `${directory}${name}` : `${directory}/${name}`;

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
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
