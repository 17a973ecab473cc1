import { relative } from "node:path";

/** Relative where that is shorter to read, absolute where it would climb out of the directory. */
export function readablePath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith("..") ? file : path || ".";
}
