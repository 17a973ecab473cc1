import { createRequire } from "node:module";
import { isAbsolute, join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { importFile } from "../system/import-file.ts";

/** `module:export` in its parts. */
export interface ModuleTarget {
  readonly module: string;
  /** `Adam`, or `Adam.fromConfig` in its parts. */
  readonly path: readonly string[];
}

/** The parts of `module:export`, or undefined where a name has not that form. */
export function parseModuleTarget(name: string): ModuleTarget | undefined {
  const at = name.lastIndexOf(":");
  const path = name.slice(at + 1);
  if (at < 1 || !/^[\w$]+(\.[\w$]+)*$/.test(path)) return undefined;
  return { module: name.slice(0, at), path: path.split(".") };
}

/** The modules that targets may be taken from. */
export interface AllowedModules {
  readonly entries: readonly string[];
  isAllowed(module: string): boolean;
  /** The module, if it has been imported. */
  loaded(module: string): object | undefined;
  /** Imports an allowed module, once. */
  load(module: string): Promise<object>;
}

/**
 * @param entries names of packages (`my-models`, `my-models/optim`) and paths of files
 *   (`./targets.js`); one that ends with a slash allows all that is below it
 * @param base where paths start, and where packages are looked for
 */
export function allowModules(entries: readonly string[], base: string): AllowedModules {
  const modules = new Map<string, object>();
  const isAllowed = (module: string): boolean =>
    entries.some((entry) => (isPath(module) ? allowsPath : allowsPackage)(entry, module, base));
  return {
    entries,
    isAllowed,
    loaded: (module) => modules.get(module),
    async load(module) {
      const known = modules.get(module);
      if (known !== undefined) return known;
      const loaded = (await importFile(locate(module, base))) as object;
      modules.set(module, loaded);
      return loaded;
    },
  };
}

const isPath = (module: string): boolean => /^\.{1,2}[\\/]/.test(module) || isAbsolute(module);

function allowsPath(entry: string, module: string, base: string): boolean {
  if (!isPath(entry)) return false;
  const [path, allowed] = [resolve(base, module), resolve(base, entry)];
  return path === allowed || (entry.endsWith("/") && path.startsWith(join(allowed, sep)));
}

/** No part of a name may lead out of its package. */
function allowsPackage(entry: string, module: string): boolean {
  if (entry === module) return true;
  const isPlain = module.split("/").every((part) => /^@?[\w~-][\w.~-]*$/.test(part));
  return isPlain && entry.endsWith("/") && module.startsWith(entry);
}

/** What `import()` takes: as if the program's own directory imported it. */
function locate(module: string, base: string): string {
  if (isPath(module)) return pathToFileURL(resolve(base, module)).href;
  try {
    const file = createRequire(join(base, "config.js")).resolve(module);
    return isAbsolute(file) ? pathToFileURL(file).href : file;
  } catch {
    // A package for `import` alone: it is found where this package is installed.
    return module;
  }
}
