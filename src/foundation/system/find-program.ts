/** Finds programs as a shell would, and says why one could not be started. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/** A path as it is, a bare name on PATH. Null if absent: files and folders that cannot be examined are passed over. */
export function findExecutable(
  program: string,
  cwd: string,
  path: string = process.env["PATH"] ?? "",
): string | null {
  const candidates = program.includes("/")
    ? [resolve(cwd, program)]
    : path.split(delimiter).map((directory) => join(directory || ".", program));
  return candidates.find(isExecutableFile) ?? null;
}

/** Whether a path is a file that this user may execute; false if it cannot be examined. */
export function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Why a program could not be started, in words: of the error of the system. */
export function startProblem(code: string | undefined, message: string): string {
  if (code === "ENOENT") return "it was not found";
  return code === "EACCES" ? "it is not executable" : message;
}
