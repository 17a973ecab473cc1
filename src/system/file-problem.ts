import { errorCode, isSystemError } from "./system-error.ts";

/** What V8 can hold in one string. */
const TOO_LARGE = "it is larger than 512 MB, the most that can be read at once";

/** What a user has to know of each error of the system, in the words of a sentence's end. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or directory",
  ENOTDIR: "part of its path is a file, not a directory",
  EEXIST: "a file of that name exists",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links form a loop",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "no space is left on its disk",
  EDQUOT: "your disk quota is used up",
  EROFS: "its file system is read-only",
  ERR_STRING_TOO_LONG: TOO_LARGE,
  ERR_FS_FILE_TOO_LARGE: TOO_LARGE,
};

/** Whether a file is the reason, or its disk: any other error is a defect of ours. */
export const isFileProblem = (error: unknown): boolean =>
  isSystemError(error) || WORDS[errorCode(error) ?? ""] === TOO_LARGE;

/** Why a file or directory cannot be read or written; the system's own words where none fit better. */
export function fileProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const words = WORDS[errorCode(error) ?? ""];
  // Reading in the background tells it so, without a code.
  if (words === undefined && error.message === "Invalid string length") return TOO_LARGE;
  return words ?? error.message;
}
