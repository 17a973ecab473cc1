import { isAbsolute, relative, sep } from "node:path";

/** A path for people: relative where that is shorter to read, absolute where it would climb out of the directory. */
export function readablePath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  const [first] = path.split(sep);
  return first === ".." || isAbsolute(path) ? file : path || ".";
}
