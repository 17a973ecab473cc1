/** Targets that are exports of modules, which a config names as `module:export`: Node imports them. */
import { isAbsolute, join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { directoryAt } from "../../foundation/system/files.ts";
import { importFile } from "../../foundation/system/import-file.ts";
import { requireIn } from "../../foundation/system/require-in.ts";
import {
  checkObject,
  checkOptions,
  listOf,
  type OptionChecks,
  optional,
  text,
} from "../values/check-options.ts";
import { pathOrFileUrl } from "../values/check-paths.ts";
import { type AllowedModules, registeredTargets, type TargetMap, type Targets } from "./targets.ts";

/** Which modules, beside the registered targets, a config may name. */
export interface TargetsOptions {
  /**
   * Modules whose exports may be targets, as `module:export`: packages (`my-models`) and files (`./targets.js`); one
   * that ends with a slash allows everything below it. Default: none.
   */
  readonly modules?: readonly string[];
  /**
   * The directory of relative module paths, and from which packages are resolved; or a file in it, by its path (`__filename`) or URL
   * (`import.meta.url`). Default: the working directory.
   */
  readonly base?: string;
}

/**
 * The targets of a program. Names may have dots (`torch.optim.Adam`), so that the config tree of a Python program can
 * be used as it is.
 * @throws ConfigError `value.wrong_type` for arguments that the types do not allow
 */
export function createTargets<const Entries extends TargetMap>(
  entries: Entries,
  options: TargetsOptions = {},
): Targets<Entries> {
  checkObject("createTargets", "the targets", entries, "createTargets({ name: function })");
  checkOptions("createTargets", options, TARGETS_OPTIONS);
  const { modules = [] } = options;
  const base = options.base === undefined ? process.cwd() : directoryAt(options.base);
  return registeredTargets(entries, allowModules(modules, base));
}

const TARGETS_OPTIONS: OptionChecks<TargetsOptions> = {
  modules: optional(listOf("strings", text, '["./targets.js", "my-models"]')),
  base: optional(pathOrFileUrl),
};

/** The default for a program without targets. */
export const NO_TARGETS: Targets = createTargets({});

/**
 * @param entries names of packages (`my-models`, `my-models/optim`) and paths of files (`./targets.js`); one that ends
 *   with a slash allows everything below it
 * @param base the directory of relative paths, and from which packages are resolved
 */
function allowModules(entries: readonly string[], base: string): AllowedModules {
  const modules = new Map<string, object>();
  const isAllowed = (module: string): boolean =>
    entries.some((entry) => (isPath(module) ? allowsPath : allowsPackage)(entry, module, base));
  return {
    entries,
    isAllowed,
    remedy: (_, module) => `createTargets(…, { modules: ["${module}"] }) allows it`,
    loaded: (module) => modules.get(module),
    async load(module) {
      const cached = modules.get(module);
      if (cached !== undefined) return cached;
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

/** The part of the name after the entry must not lead out of the package. */
function allowsPackage(entry: string, module: string): boolean {
  if (entry === module) return true;
  const isPlain = module.split("/").every((part) => /^@?[\w~-][\w.~-]*$/.test(part));
  return isPlain && entry.endsWith("/") && module.startsWith(entry);
}

/** The specifier for `import()`, resolved as if the program's own directory imported it. */
function locate(module: string, base: string): string {
  if (isPath(module)) return pathToFileURL(resolve(base, module)).href;
  try {
    const file = requireIn(base).resolve(module);
    return isAbsolute(file) ? pathToFileURL(file).href : file;
  } catch {
    // A package with only an `import` condition: resolved from where this package is installed.
    return module;
  }
}
