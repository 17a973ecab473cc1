/** The functions and classes that `_target_` may name. */
import { messageOf } from "../../foundation/system/builtin-types.ts";
import { checkObject } from "../values/check-options.ts";
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
  for (
    let current: unknown = holder;
    isClass(current) || current === holder;
    current = Object.getPrototypeOf(current)
  )
    if (Object.hasOwn(current, name)) return Reflect.get(holder, name);
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
  const index = name.lastIndexOf(":");
  const path = name.slice(index + 1);
  if (index < 1 || !/^[\w$]+(\.[\w$]+)*$/.test(path)) return undefined;
  return { module: name.slice(0, index), path: path.split(".") };
}

/** The modules from which targets may be taken. */
export interface AllowedModules {
  readonly entries: readonly string[];
  isAllowed(module: string): boolean;
  /** The module, if it has been imported. */
  loaded(module: string): object | undefined;
  /** Imports an allowed module, once. */
  load(module: string): Promise<object>;
  /** How a program allows a module. */
  remedy(name: string, module: string): string;
}

/** Where no module can be imported: `module:export` is a name like any other, which a program may register. */
const NO_MODULES: AllowedModules = {
  entries: [],
  isAllowed: () => false,
  loaded: () => undefined,
  load: (module) => Promise.reject(new Error(`${module} is not allowed`)),
  remedy: (name) => `createTargets({ "${name}": … }) registers it`,
};

/** Targets by the names that configs use. The members of a namespace are targets too: `optim.Adam`. */
export type TargetMap = Readonly<Record<string, TargetFunction | TargetClass | object>>;

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
 * Targets of these names, and exports of modules where some are allowed.
 * @throws ConfigError `value.wrong_type` for arguments that the types do not allow
 */
export function registeredTargets<const Entries extends TargetMap>(
  entries: Entries,
  allowed: AllowedModules = NO_MODULES,
): Targets<Entries> {
  checkObject("createTargets", "the targets", entries, "createTargets({ name: function })");
  const targets = new Map<string, unknown>(Object.entries(entries));
  const names = [...targets.keys()];

  const resolve = (name: string): ResolvedTarget => {
    const found = findRegistered(targets, name) ?? findExport(allowed, name);
    if (found === undefined) throw unknownTarget(name, callableNames(targets), allowed);
    return callableTarget(name, found);
  };
  return {
    entries,
    names,
    resolve,
    async load(name) {
      const parts = parseModuleTarget(name);
      if (parts !== undefined && !targets.has(name) && allowed.isAllowed(parts.module))
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

/** A value, and the object that it is a member of: a method is called on that object. */
interface Found {
  readonly value: unknown;
  readonly self?: unknown;
}

/** The longest registered name wins; the rest of the name leads to members. */
function findRegistered(targets: ReadonlyMap<string, unknown>, name: string): Found | undefined {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
    const registered = targets.get(name.slice(0, end));
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
      hint: allowed.remedy(name, parts.module),
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
  return names.find((name) => name.slice(name.lastIndexOf(".") + 1) === last);
}

const refused = (
  message: string,
  details: Partial<Pick<ConfigError["details"], "available" | "nearest" | "hint" | "cause">> = {},
): ConfigError => new ConfigError({ code: "instantiate.target", message, ...details });
