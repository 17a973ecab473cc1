/** Sources in the file system: directories, and folders of npm and Python packages. */
import { isUtf8 } from "node:buffer";
import { existsSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";
import {
  errorCode,
  fileProblem,
  fileRemedy,
  isBelow,
  refuseOther,
} from "../../../foundation/system/files.ts";
import { once } from "../../../foundation/system/get-or-create.ts";
import { requireIn } from "../../../foundation/system/require-in.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { fromCode } from "../../values/origin.ts";
import { requireDependency } from "../../values/package-info.ts";
import { directorySource, type FileSystem } from "./directory-source.ts";
import { packageSourceIn } from "./package-source.ts";
import type { FileAccess } from "./repository.ts";

/** The files of this machine. */
const DISK: FileSystem = {
  resolve,
  shown(file, cwd) {
    if (file.startsWith(`${cwd}/`)) return file.slice(cwd.length + 1);
    return isBelow(file, cwd) ? relative(cwd, file) : file;
  },
  kindOf(path) {
    const status = statusOf(path);
    if (status?.isFile() === true) return "file";
    return status?.isDirectory() === true ? "directory" : status && "other";
  },
  read: readIfFile,
  namesIn,
  around(path) {
    if (isFile(path)) return { config: { directory: dirname(path), name: basename(path) } };
    return { directories: configDirectories(dirname(path)) };
  },
};

const isFile = (path: string): boolean => statusOf(path)?.isFile() ?? false;

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Undefined if there is no such file; so is a name that no file can have. */
function readIfFile(file: string): string | undefined {
  let text: string;
  let bytes: Buffer | undefined;
  try {
    const status = statSync(file, { throwIfNoEntry: false });
    if (status === undefined || status.isDirectory()) return undefined;
    refuseOther(status, file);
    // Much faster than decoding bytes, which are needed only if a character was replaced.
    text = readFileSync(file, "utf8");
    if (text.includes(REPLACEMENT)) bytes = readFileSync(file);
  } catch (cause) {
    if (errorCode(cause) === "ENAMETOOLONG") return undefined;
    throw unreadable(file, cause);
  }
  if (bytes !== undefined && !isUtf8(bytes)) throw notUtf8(file, bytes);
  return text;
}

/** Node's replacement for bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/** An error, because text in another encoding would silently become wrong text. */
function notUtf8(file: string, bytes: Buffer): ConfigError {
  const lines = bytes.toString("latin1").split("\n");
  const line = lines.findIndex((text) => !isUtf8(Buffer.from(text, "latin1")));
  return new ConfigError({
    code: "compose.invalid_config",
    message: `Cannot read ${file}: line ${line + 1} is not UTF-8`,
    origin: fromCode("config source"),
    hint: "configs must be UTF-8, as in Hydra: save the file in that encoding",
  });
}

const unreadable = (path: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: "compose.invalid_config",
    message: `Cannot read ${path}: ${fileProblem(cause)}`,
    origin: fromCode("config source"),
    hint: fileRemedy(cause),
    cause,
  });

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    throw unreadable(dir, cause);
  }
}

/** Usual places of config trees in projects: a folder of its own, or a folder of a Python package. */
const TREES = ["*/*.yaml", "{*,src/*}/{conf,config,configs}/*.yaml"];

const MAX_NAMES = 5;

/** Directories with YAML files, the nearest first; unreadable ones are skipped. */
function configDirectories(parent: string): readonly string[] {
  const depth = (path: string) => path.split("/").length;
  return [...new Set(treeFiles(parent).map((file) => dirname(file)))]
    .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, MAX_NAMES);
}

/** Empty in a program that bundles us without our dependencies: the error about the directory is still shown. */
function treeFiles(cwd: string): readonly string[] {
  try {
    const { globSync } = requireDependency("fast-glob") as typeof import("fast-glob");
    return globSync(TREES, { cwd, ignore: ["**/node_modules/**"], suppressErrors: true });
  } catch (error) {
    if (isConfigError(error)) return [];
    throw error;
  }
}

/** The directories of `PYTHONPATH`, where Python packages are also searched. */
export const pythonPath = (
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): readonly string[] =>
  (env["PYTHONPATH"] ?? "")
    .split(delimiter)
    .filter((entry) => entry !== "")
    .map((entry) => resolve(cwd, entry));

/** Searches for the folder itself, because a package need not export its configs. */
function npmFolder(path: string, roots: readonly string[]): string | undefined {
  const parts = path.split("/");
  const nameLength = path.startsWith("@") ? 2 : 1;
  const name = parts.slice(0, nameLength).join("/");
  if (name === "" || name.startsWith(".")) return undefined;
  const root = roots
    .flatMap((from) => requireIn(from).resolve.paths(name) ?? [])
    .map((place) => join(place, name))
    .find((dir) => existsSync(dir));
  return root === undefined ? undefined : join(root, ...parts.slice(nameLength));
}

/**
 * The files and packages of this machine, and what is told of them.
 *
 * @param onAsked called with each path that is asked for, whether there is something or not
 */
export function diskAccess(onAsked: (path: string) => void): FileAccess {
  const told =
    <T>(ask: (path: string) => T) =>
    (path: string): T => {
      onAsked(path);
      return ask(path);
    };
  const system: FileSystem = {
    ...DISK,
    kindOf: told(DISK.kindOf),
    read: told(DISK.read),
    namesIn: told(DISK.namesIn),
  };
  return accessTo(system);
}

/** The files and packages of this machine. */
export const DISK_ACCESS: FileAccess = accessTo(DISK);

function accessTo(system: FileSystem): FileAccess {
  return {
    resolve,
    system,
    sources({ base, cwd, env, packageRoots }) {
      const roots = once(() => [
        ...new Set([base ?? cwd, cwd, ...pythonPath(env, cwd), ...(packageRoots?.() ?? [])]),
      ]);
      return new Map([
        ["file", (entry) => directorySource(entry, system)],
        ["pkg", (entry) => packageSourceIn({ ...entry, roots: roots() }, system, npmFolder)],
      ]);
    },
  };
}
