/** Files held in memory, which directories of configs are read from as from a disk. */

import { isMap } from "../../../foundation/system/builtin-types.ts";
import { mapOf, type OptionCheck, recordOf, text } from "../../values/check-options.ts";
import type { Surroundings } from "./config-source.ts";
import { directorySource, type FileSystem } from "./directory-source.ts";
import { packageSourceIn } from "./package-source.ts";
import type { FileAccess, SourceFactory } from "./repository.ts";

/** The texts of files by their paths, which begin at the root: `conf/config.yaml`. */
export type FileTexts = Readonly<Record<string, string>> | ReadonlyMap<string, string>;

export const fileTexts: OptionCheck = (by, name, value) =>
  (isMap(value) ? mapOf("texts", text) : recordOf(text))(by, name, value);

/** Directories are read from these files, and so are Python packages; npm packages there are none. */
export function memoryAccess(texts: FileTexts): FileAccess {
  const files = fileSystem(texts);
  return {
    resolve: files.resolve,
    system: files,
    sources: () =>
      new Map<string, SourceFactory>([
        ["file", (entry) => directorySource(entry, files)],
        ["pkg", (entry) => packageSourceIn(entry, files, () => undefined)],
      ]),
  };
}

function fileSystem(fileTexts: FileTexts): FileSystem {
  const texts = new Map<string, string>();
  const directories = new Map<string, Set<string>>([["/", new Set()]]);
  for (const [path, content] of isMap(fileTexts) ? fileTexts : Object.entries(fileTexts)) {
    const file = absolutePath("/", path);
    texts.set(file, content);
    addTo(directories, file);
  }
  const namesIn = (directory: string): readonly string[] => [...(directories.get(directory) ?? [])];
  return {
    resolve: absolutePath,
    shown: (path, cwd) => (path.startsWith(below(cwd)) ? path.slice(below(cwd).length) : path),
    kindOf(path) {
      if (texts.has(path)) return "file";
      return directories.has(path) ? "directory" : undefined;
    },
    read: (path) => texts.get(path),
    namesIn,
    around: (path) => around(path, texts, directories),
  };
}

/** Adds a file, and each directory that it lies in, to the names of the directory around it. */
function addTo(directories: Map<string, Set<string>>, path: string): void {
  for (let inner = path; inner !== "/"; inner = parentOf(inner)) {
    const parent = parentOf(inner);
    const names = directories.get(parent) ?? new Set();
    directories.set(parent, names.add(inner.slice(below(parent).length)));
  }
}

/** The absolute path without `.` and `..`; there is nothing above the root. */
function absolutePath(directory: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${directory}/${path}`).split("/"))
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  return `/${parts.join("/")}`;
}

/** What the paths of files in a directory begin with. */
const below = (directory: string): string => (directory === "/" ? "/" : `${directory}/`);

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";

const MAX_NAMES = 5;

function around(
  path: string,
  texts: ReadonlyMap<string, string>,
  directories: ReadonlyMap<string, ReadonlySet<string>>,
): Surroundings {
  const parent = parentOf(path);
  if (texts.has(path))
    return { config: { directory: parent, name: path.slice(below(parent).length) } };
  const hasConfigs = (directory: string): boolean =>
    [...(directories.get(directory) ?? [])].some((name) => name.endsWith(".yaml"));
  const found = [...directories.keys()]
    .filter((directory) => directory.startsWith(below(parent)) && hasConfigs(directory))
    .map((directory) => directory.slice(below(parent).length))
    .filter((name) => name !== "");
  const depth = (name: string) => name.split("/").length;
  return {
    directories: found.sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1)).slice(0, MAX_NAMES),
  };
}
