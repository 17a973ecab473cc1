import { isClass } from "./target.ts";

/** Names that lead from any function to the compiler of new ones. */
const NEVER: ReadonlySet<string> = new Set(["constructor", "prototype", "__proto__"]);

/**
 * A member of a namespace or a class, by name: what it has itself, and for a class also the static
 * members that it inherits from other classes. What every object or function inherits (`call`,
 * `constructor`, `toString`) is no member: a config must not reach it.
 */
export function memberOf(holder: unknown, name: string): unknown {
  if (NEVER.has(name) || holder === null) return undefined;
  if (typeof holder !== "object" && typeof holder !== "function") return undefined;
  for (let at: unknown = holder; isClass(at) || at === holder; at = Object.getPrototypeOf(at))
    if (Object.hasOwn(at, name)) return Reflect.get(holder, name);
  return undefined;
}

/** The names of the members that `memberOf` finds, those of a class's ancestors left out. */
export const memberNames = (holder: object): readonly string[] =>
  Object.getOwnPropertyNames(holder).filter(
    (name) => !NEVER.has(name) && typeof memberOf(holder, name) === "function",
  );
