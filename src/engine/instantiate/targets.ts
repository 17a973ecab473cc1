/** The functions and classes that `_target_` may name. */
import { isAbsolute, join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../foundation/system/builtin-types.ts";
import { directoryAt } from "../../foundation/system/files.ts";
import { importFile } from "../../foundation/system/import-file.ts";
import { requireIn } from "../../foundation/system/require-in.ts";
import {
  checkObject,
  checkOptions,
  listOf,
  type OptionChecks,
  optional,
  pathOrFileUrl,
  text,
} from "../values/check-options.ts";
import { ConfigError, nearest } from "../values/errors.ts";
import {
  type DeclaredTarget,
  isClass,
  isDeclared,
  type ResolvedTarget,
  resolvedTarget,
  type TargetClass,
  type TargetFunction,
} from "./target.ts";

/** Members through which any function leads to the `Function` constructor. */
const NEVER: ReadonlySet<string> = new Set(["constructor", "prototype", "__proto__"]);

/**
 * A member of a namespace or a class by its name: an own property, and for a class also a static member of its base
 * classes. What every object or function inherits (`call`, `constructor`, `toString`) is not a member: a config must
 * not reach it.
 */
function memberOf(holder: unknown, name: string): unknown {
  if (NEVER.has(name) || holder === null) return undefined;
  if (typeof holder !== "object" && typeof holder !== "function") return undefined;
  for (let at: unknown = holder; isClass(at) || at === holder; at = Object.getPrototypeOf(at))
    if (Object.hasOwn(at, name)) return Reflect.get(holder, name);
  return undefined;
}

/** The names that `memberOf` finds, without those of base classes. */
const memberNames = (holder: object): readonly string[] =>
  Object.getOwnPropertyNames(holder).filter(
    (name) => !NEVER.has(name) && typeof memberOf(holder, name) === "function",
  );

/** `module:export`, split. */
interface ModuleTarget {
  readonly module: string;
  /** `Adam`, or `Adam.fromConfig` split at the dots. */
  readonly path: readonly string[];
}

/** `module:export`, split; undefined for other names. */
function parseModuleTarget(name: string): ModuleTarget | undefined {
  const at = name.lastIndexOf(":");
  const path = name.slice(at + 1);
  if (at < 1 || !/^[\w$]+(\.[\w$]+)*$/.test(path)) return undefined;
  return { module: name.slice(0, at), path: path.split(".") };
}

/** The modules from which targets may be taken. */
interface AllowedModules {
  readonly entries: readonly string[];
  isAllowed(module: string): boolean;
  /** The module, if it has been imported. */
  loaded(module: string): object | undefined;
  /** Imports an allowed module, once. */
  load(module: string): Promise<object>;
}

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

/** Targets by the names that configs use. The members of a namespace are targets too: `optim.Adam`. */
export type TargetMap = Readonly<Record<string, TargetFunction | TargetClass | object>>;

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

/** The targets that `_target_` may name: registered ones, and exports of allowed modules. */
export interface Targets<Entries extends TargetMap = TargetMap> {
  readonly entries: Entries;
  /** All registered names. */
  readonly names: readonly string[];
  /**
   * The target of a name: registered, a static method or member of a registered object, or an export of a loaded
   * module.
   * @throws ConfigError `instantiate.target`
   */
  resolve(name: string): ResolvedTarget;
  /**
   * As `resolve`, but imports an allowed module of `module:export` first.
   * @throws ConfigError `instantiate.target`
   */
  load(name: string): Promise<ResolvedTarget>;
  /**
   * `hydra.utils.get_class`.
   * @throws ConfigError `instantiate.target`, also for a name that is no class
   */
  getClass(name: string): TargetClass;
  /**
   * `hydra.utils.get_method`.
   * @throws ConfigError `instantiate.target`
   */
  getMethod(name: string): TargetFunction;
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
  const known = new Map<string, unknown>(Object.entries(entries));
  const names = [...known.keys()];
  const allowed = allowModules(modules, base);

  const resolve = (name: string): ResolvedTarget => {
    const found = findRegistered(known, name) ?? findExport(allowed, name);
    if (found === undefined) throw unknownTarget(name, callableNames(known), allowed);
    return callableTarget(name, found);
  };
  return {
    entries,
    names,
    resolve,
    async load(name) {
      const parts = parseModuleTarget(name);
      if (parts !== undefined && !known.has(name) && allowed.isAllowed(parts.module))
        await loadModule(allowed, name, parts.module);
      return resolve(name);
    },
    getClass(name) {
      const { callable } = resolve(name);
      if (isClass(callable)) return callable;
      throw refused(`Located non-class of type 'function' while loading '${name}'`);
    },
    getMethod: (name) => resolve(name).callable as TargetFunction,
  };
}

const TARGETS_OPTIONS: OptionChecks<TargetsOptions> = {
  modules: optional(listOf("strings", text, '["./targets.js", "my-models"]')),
  base: optional(pathOrFileUrl),
};

/** The default for a program without targets. */
export const NO_TARGETS: Targets = createTargets({});

/** A value, and the object that it is a member of: a method is called on that object. */
interface Found {
  readonly value: unknown;
  readonly self?: unknown;
}

/** The longest registered name wins; the rest of the name leads to members. */
function findRegistered(known: ReadonlyMap<string, unknown>, name: string): Found | undefined {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
    const registered = known.get(name.slice(0, end));
    if (registered === undefined) continue;
    const holder = isDeclared(registered) && end < name.length ? registered.callable : registered;
    return walk(holder, end === name.length ? [] : name.slice(end + 1).split("."));
  }
  return undefined;
}

function findExport(allowed: AllowedModules, name: string): Found | undefined {
  const parts = parseModuleTarget(name);
  if (parts === undefined || !allowed.isAllowed(parts.module)) return undefined;
  const module = allowed.loaded(parts.module);
  if (module === undefined)
    throw refused(`Error locating target '${name}': the module has not been imported`, {
      hint: "use instantiateAsync, which imports the modules of targets",
    });
  const found = walk(module, parts.path);
  if (found !== undefined) return found;
  const exports = memberNames(module);
  const near = nearest(parts.path[0] ?? "", exports);
  throw refused(`Error locating target '${name}': there is no such export`, {
    available: exports,
    ...(near !== undefined && { nearest: `${parts.module}:${near}` }),
  });
}

function walk(holder: unknown, path: readonly string[]): Found | undefined {
  let found: Found = { value: holder };
  for (const name of path) {
    const value = memberOf(found.value, name);
    if (value === undefined) return undefined;
    found = { value, self: found.value };
  }
  return found;
}

function callableTarget(name: string, { value, self }: Found): ResolvedTarget {
  if (isDeclared(value)) return resolvedTarget(name, value as DeclaredTarget);
  if (typeof value === "function") return resolvedTarget(name, value as TargetFunction, self);
  const kind = value === null ? "null" : typeof value;
  throw refused(`Expected a callable target, got '${name}' of type '${kind}'`, {
    ...(kind === "object" && { available: memberNames(value as object) }),
  });
}

async function loadModule(allowed: AllowedModules, name: string, module: string): Promise<void> {
  try {
    await allowed.load(module);
  } catch (cause) {
    const why = messageOf(cause);
    throw refused(`Error locating target '${name}': ${why}`, { cause });
  }
}

function unknownTarget(
  name: string,
  names: readonly string[],
  allowed: AllowedModules,
): ConfigError {
  const parts = parseModuleTarget(name);
  if (parts !== undefined)
    return refused(`Error locating target '${name}': its module is not allowed`, {
      available: allowed.entries,
      hint: `createTargets(…, { modules: ["${parts.module}"] }) allows it`,
    });
  const near = nearest(name, names) ?? sameLastPart(name, names);
  return refused(`Error locating target '${name}': there is no target of this name`, {
    available: names,
    nearest: near,
    ...(names.length === 0 && { hint: `createTargets({ "${name}": … }) registers it` }),
  });
}

/** The names that a config may use: objects that are not targets contribute their members. */
const callableNames = (
  entries: Iterable<readonly [string, unknown]>,
  depth = 0,
): readonly string[] =>
  [...entries].flatMap(([name, value]) => {
    if (typeof value !== "object" || value === null || isDeclared(value))
      return typeof value === "function" || depth === 0 ? [name] : [];
    const members = depth < MOST_DEPTH ? callableNames(dataOf(value), depth + 1) : [];
    return members.map((member) => `${name}.${member}`);
  });

/** The data properties, so that no getter is called. */
const dataOf = (holder: object): readonly (readonly [string, unknown])[] =>
  Object.entries(Object.getOwnPropertyDescriptors(holder)).map(([name, { value }]) => [
    name,
    value,
  ]);

/** A limit, because objects may contain themselves. */
const MOST_DEPTH = 3;

/** `torch.optim.Adam` is likely to mean `optim.Adam`. */
function sameLastPart(name: string, names: readonly string[]): string | undefined {
  const last = name.slice(name.lastIndexOf(".") + 1);
  return names.find((known) => known.slice(known.lastIndexOf(".") + 1) === last);
}

const refused = (
  message: string,
  details: Partial<Pick<ConfigError["details"], "available" | "nearest" | "hint" | "cause">> = {},
): ConfigError => new ConfigError({ code: "instantiate.target", message, ...details });
