import { isAbsolute, relative, sep } from "node:path";

/** A path for people: relative to `cwd` if it lies below it, else as it was given. */
export function readablePath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  const [first] = path.split(sep);
  return first === ".." || isAbsolute(path) ? file : path || ".";
}
