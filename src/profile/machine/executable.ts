import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/** Finds a program as a shell would: a path as it is, a bare name on PATH. Null when absent. */
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

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
