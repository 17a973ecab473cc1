/** A folder of a package as a source of configs, on whatever file system it is. */

import type { ConfigSource, LoadedConfig } from "./config-source.ts";
import { directorySource, type FileSystem } from "./directory-source.ts";
import type { SourceReading } from "./formats.ts";

interface PackageSourceOptions {
  readonly provider: string;
  /** `NAME/FOLDER`, e.g. `my-configs/conf` or `@scope/name/conf`; `a.b.conf` for a Python package. */
  readonly path: string;
  readonly cwd: string;
  readonly reading?: SourceReading;
  /** The directories where packages are searched, in order. Default: `cwd`. */
  readonly roots?: readonly string[];
}

/**
 * A folder of an npm package installed for one of the roots (`pkg://NAME/FOLDER`), or of a Python package in one of
 * them (`pkg://a.b.conf`), found like Python's modules.
 */
export function packageSourceIn(
  options: PackageSourceOptions,
  files: FileSystem,
  npmFolder: (path: string, roots: readonly string[]) => string | undefined,
): ConfigSource {
  const { provider, path, cwd, reading, roots = [cwd] } = options;
  const installed = npmFolder(path, roots);
  const module = pythonModule(path);
  const dir = installed ?? pythonFolder(module, roots, files);
  const info = { scheme: "pkg", path: installed === undefined ? module : path, provider };
  if (dir === undefined) return unavailableSource(info);
  const source = directorySource({ provider, path: dir, cwd, ...(reading && { reading }) }, files);
  return {
    ...info,
    available: () =>
      source.available() && (installed !== undefined || isRegularPackage(dir, files)),
    isGroup: source.isGroup,
    load(configPath): LoadedConfig | undefined {
      const loaded = source.load(configPath);
      return loaded && { ...loaded, source: info };
    },
    list: source.list,
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

/** Hydra takes slashes for dots, also in the package of the file: `a/b/` is `a.b`. */
const pythonModule = (path: string): string => path.replaceAll("/", ".").replace(/(?<!\.)\.+$/, "");

/** Python's rule: the first folder with an `__init__.py`, otherwise the first existing one. */
function pythonFolder(
  module: string,
  roots: readonly string[],
  files: FileSystem,
): string | undefined {
  const parts = module.split(".");
  if (parts.includes("")) return undefined;
  const folders = roots.map((root) => files.resolve(root, parts.join("/")));
  return (
    folders.find((folder) => isRegularPackage(folder, files)) ??
    folders.find((folder) => files.kindOf(folder) === "directory")
  );
}

/**
 * Hydra warns that a folder without `__init__.py` is not available, but still composes from it, because Python treats
 * it as a namespace package.
 */
const isRegularPackage = (dir: string, files: FileSystem): boolean =>
  files.kindOf(files.resolve(dir, "__init__.py")) !== undefined;
