/** Where the loader looks for libraries before it takes those of the system's own folders (ld.so(8), ldconfig(8)). */
import { basename, dirname, isAbsolute, join } from "node:path";
import { matchesGlob, parseGlob } from "../../text/glob.ts";
import type { Machine } from "./machine.ts";

export interface LibraryFolder {
  readonly path: string;
  /** The file that names it; null: LD_LIBRARY_PATH. */
  readonly namedIn: string | null;
}

/** The first that has a library gives it. */
export const libraryFolders = (machine: Machine): readonly LibraryFolder[] => [
  ...(machine.env["LD_LIBRARY_PATH"] ?? "")
    .split(":")
    .filter(isAbsolute)
    .map((path) => ({ path, namedIn: null })),
  ...foldersIn("/etc/ld.so.conf", machine, []),
];

/** @param around the files that include this one */
function foldersIn(
  file: string,
  machine: Machine,
  around: readonly string[],
): readonly LibraryFolder[] {
  if (around.includes(file)) return [];
  return (machine.read(file) ?? "").split("\n").flatMap((line) => {
    const [word = "", ...more] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (word === "include")
      return more
        .flatMap((pattern) => filesOf(pattern, dirname(file), machine))
        .flatMap((included) => foldersIn(included, machine, [...around, file]));
    return isAbsolute(word) ? [{ path: word, namedIn: file }] : [];
  });
}

/** Only the last part of a pattern has wildcards, wherever one is used. */
function filesOf(pattern: string, from: string, machine: Machine): readonly string[] {
  const path = isAbsolute(pattern) ? pattern : join(from, pattern);
  const tokens = parseGlob(basename(path));
  return machine
    .list(dirname(path))
    .filter((name) => matchesGlob(tokens, name))
    .sort()
    .map((name) => join(dirname(path), name));
}
