/** Files and directories: reading, creation, reasons of failures, and paths for people. */

import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  type Stats,
  statSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isError } from "./builtin-types.ts";

// Errors of the operating system and of Node, distinguished by their codes.

/** `ENOENT` and the like; undefined for an error without a code. */
export const errorCode = (error: unknown): string | undefined =>
  isError(error) && "code" in error && typeof error.code === "string" ? error.code : undefined;

/** Whether a system call failed, as opposed to a check of ours or of Node's. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  errorCode(error) !== undefined && isError(error) && "syscall" in error;

/** V8's limit for one string. */
const TOO_LARGE = "it is larger than 512 MB, the most that can be read at once";

const LONG_VALUE = "one value in it is too long to be read";

/** The error of a file whose size is fine, but one value in it is longer than is read: a bound on memory. */
export const longValueError = (): Error =>
  Object.assign(new Error(LONG_VALUE), { code: "ERR_VALUE_TOO_LONG" });

/** A system error as users read it. */
interface Problem {
  /** Ends a sentence. */
  readonly words: string;
  /** What to do, where that is not clear from the words. */
  readonly remedy?: string;
}

const DENIED: Problem = { words: "permission denied" };
const OPEN_FILES: Problem = {
  words: "too many files are open",
  remedy: "raise the limit: ulimit -n 1024",
};

/** The system errors of files that users meet, and what to do about them. */
const PROBLEMS: Readonly<Record<string, Problem>> = {
  ENOENT: { words: "there is no such file or directory" },
  ENOTDIR: { words: "part of its path is a file, not a directory" },
  EEXIST: { words: "a file of that name exists" },
  EACCES: DENIED,
  EPERM: DENIED,
  EISDIR: { words: "it is a directory" },
  ELOOP: { words: "its symbolic links form a loop", remedy: "ls -l shows where each link leads" },
  ENAMETOOLONG: { words: "the name is too long" },
  ENOTEMPTY: { words: "it is a directory with files in it" },
  EXDEV: { words: "it is on another file system" },
  EIO: {
    words: "its disk or network file system failed (input/output error)",
    remedy: "dmesg may say why; check the disk or the mount, then try again",
  },
  ESTALE: {
    words: "its network file system has lost it (stale file handle)",
    remedy: "it was removed or the server has restarted: try again, or mount it again",
  },
  ENOTSUP: { words: "its file system cannot do that" },
  EOPNOTSUPP: { words: "its file system cannot do that" },
  ENODEV: { words: "its device is not there" },
  ENXIO: { words: "its device is not there" },
  EBUSY: { words: "it is in use" },
  ETXTBSY: { words: "it is a program that is running" },
  EHOSTDOWN: { words: "the server of its network file system does not answer" },
  ETIMEDOUT: { words: "the server of its network file system does not answer" },
  ENOTCONN: {
    words: "its mount has lost its server",
    remedy: "mount it again",
  },
  EMFILE: OPEN_FILES,
  ENFILE: OPEN_FILES,
  ENOSPC: { words: "no space is left on its disk" },
  EDQUOT: { words: "your disk quota is used up" },
  EFBIG: { words: "the file would be larger than its file system or ulimit -f allows" },
  EROFS: { words: "its file system is read-only" },
  ERR_STRING_TOO_LONG: { words: TOO_LARGE },
  ERR_FS_FILE_TOO_LARGE: { words: TOO_LARGE },
  ERR_VALUE_TOO_LONG: { words: LONG_VALUE },
};

const problemOf = (error: unknown): Problem | undefined => PROBLEMS[errorCode(error) ?? ""];

/** Whether an error is due to a file or its disk; any other one is a bug of ours. */
export const isFileProblem = (error: unknown): boolean =>
  isSystemError(error) || [TOO_LARGE, LONG_VALUE].includes(problemOf(error)?.words ?? "");

/** Why a file or directory cannot be read or written; the system's message where we have no better one. */
export function fileProblem(error: unknown): string {
  if (!isError(error)) return String(error);
  const words = problemOf(error)?.words;
  // Asynchronous reading reports this without a code.
  if (words === undefined && error.message === "Invalid string length") return TOO_LARGE;
  return words ?? error.message;
}

/** What to do about a file that cannot be read or written; undefined where that depends on what it is for. */
export const fileRemedy = (error: unknown): string | undefined => problemOf(error)?.remedy;

/** Like `fileProblem`, for a message that does not name the file: `'/a/b': it is a directory`. */
export function namedFileProblem(error: unknown): string {
  const words = problemOf(error)?.words;
  if (words === undefined || !isSystemError(error)) return fileProblem(error);
  return error.path === undefined ? words : `'${error.path}': ${words}`;
}

/** Other file types that a path may have. Opening a pipe can block forever, and reading a device may never end. */
const OTHERS: readonly (readonly [is: (status: Stats) => boolean, name: string])[] = [
  [(status) => status.isFIFO(), "a pipe"],
  [(status) => status.isSocket(), "a socket"],
  [(status) => status.isCharacterDevice() || status.isBlockDevice(), "a device"],
];

/**
 * Checks a path before opening it, for files that are read more than once or not in order.
 * @throws an error like the system's for anything but a file or a directory, and the system's own errors
 */
export function requireFile(path: string): Stats {
  const status = statSync(path);
  refuseOther(status, path);
  return status;
}

/**
 * The whole text of a file, as UTF-8.
 *
 * @throws as `requireFile`, and the system's errors
 */
export function readText(path: string): string {
  requireFile(path);
  return readFileSync(path, "utf8");
}

/** Like `refuseOther`, but allows pipes and sockets, whose data end eventually. */
export function refuseDevice(status: Stats, path: string): void {
  if (!status.isFIFO() && !status.isSocket()) refuseOther(status, path);
}

/**
 * Like `requireFile`, for a known status.
 * @throws an error like the system's for anything but a file or a directory
 */
export function refuseOther(status: Stats, path: string): void {
  const other = OTHERS.find(([is]) => is(status));
  if (other !== undefined)
    throw Object.assign(new Error(`it is ${other[1]}, not a file`), {
      code: "ERR_NOT_A_FILE",
      syscall: "open",
      path,
    });
}

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

/** The directories on a path that do not exist, innermost first. */
export function missingFrom(path: string): readonly string[] {
  const missing: string[] = [];
  for (
    let ancestor = path;
    !existsSync(ancestor) && dirname(ancestor) !== ancestor;
    ancestor = dirname(ancestor)
  )
    missing.push(ancestor);
  return missing;
}

/** Removes directories that are empty, the innermost first. Other processes may have written into them in the meantime. */
export function removeEmpty(made: readonly string[]): void {
  for (const directory of made) {
    try {
      rmdirSync(directory);
    } catch {
      return;
    }
  }
}

/** Also false if the path cannot be examined. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * The directory that a caller means by a directory, or by a file in it: by a path (`__filename`) or a URL (`import.meta.url`).
 */
export function directoryAt(place: string): string {
  if (!place.startsWith("file:")) return isFile(place) ? dirname(place) : place;
  const path = fileURLToPath(place);
  return place.endsWith("/") || isDirectory(path) ? path : dirname(path);
}

/** Also false if the path cannot be examined. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The absolute path with its links resolved; its last parts need not exist. */
export function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const around = dirname(path);
    return around === path ? path : join(realPlace(around), basename(path));
  }
}

/** A path for people: relative to `cwd` if it lies below it, else as it was given. */
export function readablePath(file: string, cwd: string): string {
  return isBelow(file, cwd) ? relative(cwd, file) || "." : file;
}

/** Whether a path is a directory or lies below it; `..data` is a name like any other. */
export function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way.split(sep)[0] !== ".." && !isAbsolute(way);
}
