import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join, resolve } from "node:path";
import type { Limits } from "../../values/limits.ts";
import type { ConfigSource, LoadedConfig } from "./config-source.ts";
import { fileSource, isDirectory } from "./file-source.ts";

export interface PackageSourceOptions {
  readonly provider: string;
  /** `NAME/FOLDER`, e.g. `my-configs/conf` or `@scope/name/conf`; `a.b.conf` of a Python package. */
  readonly path: string;
  readonly cwd: string;
  readonly limits?: Limits | undefined;
  /** Where packages are looked for, in this order. Default: from `cwd`. */
  readonly roots?: readonly string[];
}

/**
 * A folder of an npm package that is installed for one of the roots (`pkg://NAME/FOLDER`), or of a Python
 * package that lies in one of them (`pkg://a.b.conf`), as Python finds those of its module search path.
 */
export function packageSource(options: PackageSourceOptions): ConfigSource {
  const { provider, path, cwd, limits, roots = [cwd] } = options;
  const installed = npmFolder(path, roots);
  const module = pythonModule(path);
  const dir = installed ?? pythonFolder(module, roots);
  const info = { scheme: "pkg", path: installed === undefined ? module : path, provider };
  if (dir === undefined) return unavailableSource(info);
  const files = fileSource({ provider, path: dir, cwd, limits });
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

/** The directories that `PYTHONPATH` adds to where Python packages are looked for. */
export const pythonPath = (
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): readonly string[] =>
  (env["PYTHONPATH"] ?? "")
    .split(delimiter)
    .filter((entry) => entry !== "")
    .map((entry) => resolve(cwd, entry));

/** Looks the folder up itself: a package need not export its configs to be composed from. */
function npmFolder(path: string, roots: readonly string[]): string | undefined {
  const parts = path.split("/");
  const nameLength = path.startsWith("@") ? 2 : 1;
  const name = parts.slice(0, nameLength).join("/");
  if (name === "" || name.startsWith(".")) return undefined;
  const root = roots
    .flatMap((from) => createRequire(join(from, "from-here.js")).resolve.paths(name) ?? [])
    .map((place) => join(place, name))
    .find((dir) => existsSync(dir));
  return root === undefined ? undefined : join(root, ...parts.slice(nameLength));
}

/** Hydra takes slashes for dots, also where it tells of the package: `a/b/` is `a.b`. */
const pythonModule = (path: string): string => path.replaceAll("/", ".").replace(/(?<!\.)\.+$/, "");

/** As Python finds a package: the first folder that has an `__init__.py`, else the first one that is there. */
function pythonFolder(module: string, roots: readonly string[]): string | undefined {
  const parts = module.split(".");
  if (parts.includes("")) return undefined;
  const folders = roots.map((root) => join(root, ...parts));
  return folders.find(isRegularPackage) ?? folders.find(isDirectory);
}

/**
 * Hydra warns that a folder without `__init__.py` is not available, and composes from it all the same:
 * Python knows it as a namespace package.
 */
const isRegularPackage = (dir: string): boolean => existsSync(join(dir, "__init__.py"));
