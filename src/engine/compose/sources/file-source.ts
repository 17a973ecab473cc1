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
import { requireIn } from "../../../foundation/system/require-in.ts";
import { DEFAULT_DIALECT } from "../../values/dialect.ts";
import { ConfigError } from "../../values/errors.ts";
import { fromCode } from "../../values/origin.ts";
import type { Reading } from "../../values/yaml/reader.ts";
import {
  type ConfigSource,
  type ItemKind,
  type LoadedConfig,
  refuseYml,
  yamlFileName,
} from "./config-source.ts";
import { configFromText } from "./load-config.ts";

export interface FileSourceOptions {
  readonly provider: string;
  /** The user's path; relative paths start at `cwd`. */
  readonly path: string;
  readonly cwd: string;
  readonly reading?: Reading;
}

/** A directory of YAML files (`file://DIR`). */
export function fileSource({ provider, path, cwd, reading }: FileSourceOptions): ConfigSource {
  const root = resolve(cwd, path);
  const info = { scheme: "file", path, provider };
  const dialect = reading?.dialect ?? DEFAULT_DIALECT;

  return {
    ...info,
    available: () => isDirectory(root),
    isGroup: (group) => isDirectory(resolve(root, group)),
    load(configPath) {
      refuseYml(configPath, dialect);
      const file = resolve(root, yamlFileName(configPath, dialect));
      const text = readIfFile(file, reading?.overlay);
      // Messages name the file relative to the program's working directory, as the user would type it.
      return text === undefined
        ? undefined
        : configFromText(configPath, { name: displayName(cwd, file), text }, info, reading);
    },
    list(group, kind) {
      const dir = resolve(root, group);
      if (dialect.refusesYml)
        for (const name of namesIn(dir, reading?.overlay)) refuseYml(name, dialect);
      return listDirectory(dir, kind, reading);
    },
  };
}

/** Also false if the directory cannot be read. */
const isDirectory = (path: string): boolean => statusOf(path)?.isDirectory() ?? false;

const isFile = (path: string): boolean => statusOf(path)?.isFile() ?? false;

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

type Overlay = Reading["overlay"];

/** Undefined if there is no such file; so is a name that no file can have. */
function readIfFile(file: string, overlay: Overlay): string | undefined {
  const laid = overlay?.get(file);
  if (laid !== undefined) return laid ?? undefined;
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

/**
 * The options of a directory: each entry that can be loaded by its own name, without the part after the last dot.
 * Beside `v1.0.yaml`, a folder `v1.0` is the option `v1`. The rule is Hydra's.
 */
function listDirectory(dir: string, kind: ItemKind, reading: Reading = {}): string[] {
  const { dialect, overlay } = reading;
  const names = namesIn(dir, overlay).filter((name) => !NEVER_LISTED.has(name));
  if (kind === "group") return names.filter((name) => isDirectory(join(dir, name)));
  const options = names
    .filter((name) => {
      const file = join(dir, yamlFileName(name, dialect));
      return overlay?.get(file) != null || isFile(file);
    })
    .map(withoutLastPart);
  return [...new Set(options)];
}

const NEVER_LISTED: ReadonlySet<string> = new Set(["__pycache__", "__init__.py"]);

function withoutLastPart(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? name : name.slice(0, dot);
}

function namesIn(dir: string, overlay: Overlay): readonly string[] {
  try {
    const names = readdirSync(dir);
    if (overlay === undefined) return names;
    const added = [...overlay].flatMap(([file, text]) =>
      text !== null && dirname(file) === dir && !names.includes(basename(file))
        ? [basename(file)]
        : [],
    );
    return [...names.filter((name) => overlay.get(join(dir, name)) !== null), ...added];
  } catch (cause) {
    throw unreadable(dir, cause);
  }
}

function displayName(cwd: string, file: string): string {
  if (file.startsWith(`${cwd}/`)) return file.slice(cwd.length + 1);
  return isBelow(file, cwd) ? relative(cwd, file) : file;
}

export interface PackageSourceOptions {
  readonly provider: string;
  /** `NAME/FOLDER`, e.g. `my-configs/conf` or `@scope/name/conf`; `a.b.conf` for a Python package. */
  readonly path: string;
  readonly cwd: string;
  readonly reading?: Reading;
  /** The directories where packages are searched, in order. Default: `cwd`. */
  readonly roots?: readonly string[];
}

/**
 * A folder of an npm package installed for one of the roots (`pkg://NAME/FOLDER`), or of a Python package in one of
 * them (`pkg://a.b.conf`), found like Python's modules.
 */
export function packageSource(options: PackageSourceOptions): ConfigSource {
  const { provider, path, cwd, reading, roots = [cwd] } = options;
  const installed = npmFolder(path, roots);
  const module = pythonModule(path);
  const dir = installed ?? pythonFolder(module, roots);
  const info = { scheme: "pkg", path: installed === undefined ? module : path, provider };
  if (dir === undefined) return unavailableSource(info);
  const files = fileSource({ provider, path: dir, cwd, ...(reading && { reading }) });
  return {
    ...info,
    available: () => files.available() && (installed !== undefined || isRegularPackage(dir)),
    isGroup: files.isGroup,
    load(configPath): LoadedConfig | undefined {
      const loaded = files.load(configPath);
      return loaded && { ...loaded, source: info };
    },
    list: files.list,
  };
}

function unavailableSource(info: Pick<ConfigSource, "scheme" | "path" | "provider">): ConfigSource {
  return {
    ...info,
    available: () => false,
    isGroup: () => false,
    load: () => undefined,
    list: () => [],
  };
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

/** Hydra takes slashes for dots, also in the package of the file: `a/b/` is `a.b`. */
const pythonModule = (path: string): string => path.replaceAll("/", ".").replace(/(?<!\.)\.+$/, "");

/** Python's rule: the first folder with an `__init__.py`, otherwise the first existing one. */
function pythonFolder(module: string, roots: readonly string[]): string | undefined {
  const parts = module.split(".");
  if (parts.includes("")) return undefined;
  const folders = roots.map((root) => join(root, ...parts));
  return folders.find(isRegularPackage) ?? folders.find(isDirectory);
}

/**
 * Hydra warns that a folder without `__init__.py` is not available, but still composes from it, because Python treats
 * it as a namespace package.
 */
const isRegularPackage = (dir: string): boolean => existsSync(join(dir, "__init__.py"));
