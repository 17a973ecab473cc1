/** `OmegaConf.select` and `missing_keys`: values at keys, resolved on the way. */
import type { Dialect } from "../dialect.ts";
import { ConfigError, isConfigError } from "../errors.ts";
import type { TextPart } from "../interpolation/interpolation-ast.ts";
import { isInterpolationNode, parseNode } from "../interpolation/interpolation-parser.ts";
import { mapKey, nearestKey, obstacle, splitKey } from "../key-path.ts";
import { spend } from "../limits.ts";
import {
  type ConfigNode,
  checkDepth,
  getAt,
  isMissing,
  type Key,
  type KeyId,
  type MapEntry,
  type MapNode,
} from "../node.ts";
import { describeOrigin } from "../origin.ts";
import { fullKeyOf, type Place } from "../place.ts";
import { recordOf, toObject } from "../plain-objects.ts";
import { keyText } from "../python-text.ts";
import type { ResolveContext } from "./context.ts";
import { createResolution } from "./evaluate-interpolation.ts";
import {
  cycleError,
  isInterpolation,
  type Resolution,
  selectPlace,
  tryDereference,
} from "./resolution.ts";
import { resolveDeep } from "./resolve-tree.ts";

export interface SelectOptions {
  /** Refuse a missing value (`???`); otherwise it counts as absent. Default: false. */
  readonly throwOnMissing?: boolean;
  /** Refuse an interpolation that cannot be resolved; otherwise it counts as absent. Default: true. */
  readonly throwOnResolutionFailure?: boolean;
  /** The result for an absent or missing value. */
  readonly default?: ConfigNode;
  /** Also resolve everything below the selected node: at once, or lazily when it is read. Default: false. */
  readonly deep?: boolean | "lazy";
}

/**
 * `OmegaConf.select`: the node at a key (`a.b[0]`, `""` for the whole tree), with interpolations on the way and at the
 * end resolved; undefined when the key is absent, or leads through a scalar.
 * @throws ConfigError `value.missing`, `key.invalid_type`, or that of an interpolation; its key is the selected one
 */
export function selectNode(
  root: ConfigNode,
  key: string,
  context: ResolveContext,
  options: SelectOptions = {},
): ConfigNode | undefined {
  const resolution = createResolution(root, context);
  const place = findPlace(resolution, key, options);
  if (place === undefined || isMissing(place.node)) return options.default;
  if (options.deep === "lazy") return lazyNode(resolution, place);
  return options.deep === true ? resolveDeep(resolution, place) : place.node;
}

/**
 * The place that `selectNode` takes its node from; undefined for none.
 * @throws ConfigError as `selectNode`
 */
export function findPlace(
  resolution: Resolution,
  key: string,
  options: Pick<SelectOptions, "throwOnMissing" | "throwOnResolutionFailure">,
): Place | undefined {
  const relative = key.startsWith(".") ? key.slice(1) : key;
  const { absentAboveRoot } = resolution.context.dialect;
  if (relative.startsWith(".") && absentAboveRoot) return undefined;
  if (relative.startsWith("."))
    throw new ConfigError({
      code: "key.not_found",
      message: `Error resolving key '${key}'`,
      key,
    });
  try {
    return selectPlace(resolution, resolution.root, relative, {
      ...options,
      scalarsAreEmpty: true,
    });
  } catch (error) {
    throw isConfigError(error) ? error.withRequestedKey(key) : error;
  }
}

/** The error of a required key that is not there. It names the nearest key, also below an interpolation, and the file that sets it. */
export const keyAbsent = (root: ConfigNode, key: string, context: ResolveContext): ConfigError =>
  new ConfigError(
    { code: "key.not_found", message: `Key '${key}' is not in the config`, key },
    () => {
      const parts = splitKey(key, context.dialect);
      const { depth, node } = deepestOf(parts, root, context);
      const { available, hint, nearest } = nearestKey(node, parts.slice(depth));
      const above = parts.slice(0, depth);
      const full = (name: string) => [...above, name].join(".");
      const blocked = obstacle(node, above.join("."), parts[depth] ?? "");
      if (blocked !== undefined) return { hint: blocked };
      const origin = nearest === undefined ? undefined : getAt(node, splitKey(nearest))?.origin;
      return {
        available: available.map(full),
        ...(hint !== undefined && { hint }),
        ...(nearest !== undefined && { nearest: full(nearest) }),
        ...(nearest !== undefined &&
          origin?.kind === "file" && {
            hint: `'${full(nearest)}' is set in ${describeOrigin(origin)}`,
          }),
      };
    },
  );

/** The last map, list or value that is there on the way to a key, and how many parts of the key lead to it. */
function deepestOf(parts: readonly string[], root: ConfigNode, context: ResolveContext) {
  const resolution = createResolution(root, context);
  let current = resolution.root;
  for (const [depth, part] of parts.entries()) {
    const { node } = current;
    const index = node.kind === "list" && /^\d+$/.test(part);
    const name = node.kind === "map" ? mapKey(node, part, context.dialect) : part;
    const below = resolution.places.child(current, index ? BigInt(part) : name);
    const next = below && tryDereference(resolution, below);
    if (next === undefined) return { depth, node };
    current = next;
  }
  return { depth: parts.length, node: current.node };
}

/**
 * The resolved node at a path of keys; interpolations on the path are resolved as needed. Unlike `selectNode` it
 * accepts keys of every type. List indices are bigints.
 * @throws ConfigError `key.not_found`, or that of an interpolation
 */
export function resolveAt(
  root: ConfigNode,
  path: readonly Key[],
  context: ResolveContext,
): ConfigNode {
  const resolution = createResolution(root, context);
  let current = resolution.root;
  for (const key of path) {
    const child = current.result === true ? undefined : resolution.places.child(current, key);
    if (child === undefined)
      throw new ConfigError({
        code: "key.not_found",
        message: `Key not found: '${keyText(key)}'`,
        key: fullKeyOf(current, key),
        origin: current.node.origin,
      });
    current = resolution.dereference(child);
  }
  return current.node;
}

/**
 * `OmegaConf.missing_keys`: the full keys of all missing values. Those in maps and lists that interpolations lead to
 * are listed under their own key in the tree.
 * @throws ConfigError of an interpolation that cannot be resolved, `limit.values`
 */
export function missingKeys(root: ConfigNode, context: ResolveContext): ReadonlySet<string> {
  const resolution = createResolution(root, context);
  const keys = new Set<string>();
  const done = new Set<Place>();
  const open = new Set<Place>();
  const { refusesToMissing } = context.dialect;
  gather(resolution.root);
  return keys;

  function gather(place: Place): void {
    if (done.has(place)) return;
    checkDepth(open.size, place.node);
    open.add(place);
    const callsBefore = resolution.impureCalls();
    for (const key of keysOf(place)) {
      const below = resolution.places.child(place, key);
      if (below === undefined) continue;
      if (isMissing(below.node)) keys.add(fullKeyOf(below));
      else if (!refusesToMissing || !callsResolver(below, context.dialect)) {
        const target = follow(below);
        if (target === undefined) {
          keys.add(fullKeyOf(below));
          continue;
        }
        if (open.has(target)) throw cycleError(below, "Recursive interpolation detected");
        gather(target);
      }
    }
    open.delete(place);
    // A container around the result of an impure resolver is evaluated again for each reference, as everywhere.
    if (resolution.impureCalls() === callsBefore) done.add(place);
    else spend(resolution.budget, { values: 1, characters: 0 }, place);
  }

  /** Undefined if a reference leads to a missing value. */
  function follow(place: Place): Place | undefined {
    try {
      return resolution.dereference(place);
    } catch (error) {
      if (refusesToMissing && isToMissing(error)) return undefined;
      throw isConfigError(error) ? error.withRequestedKey(fullKeyOf(place)) : error;
    }
  }
}

/** Whether an interpolation calls a resolver: OmegaConf skips such values here. */
function callsResolver(place: Place, dialect: Dialect): boolean {
  return isInterpolation(place) && parseNode(place.node, dialect).parts.some(usesResolver);
}

function usesResolver(part: TextPart | string): boolean {
  if (typeof part === "string" || part.kind === "literal") return false;
  return part.kind === "resolver" || (part.parts ?? []).some(usesResolver);
}

const isToMissing = (error: unknown): boolean =>
  isConfigError(error) &&
  (error.code === "interpolation.to_missing" || isToMissing(error.details.cause));

function keysOf({ node, result }: Place): readonly Key[] {
  if (result === true) return [];
  if (node.kind === "map") return [...node.entries.values()].map((entry) => entry.key);
  return node.kind === "list" ? node.items.map((_, index) => BigInt(index)) : [];
}

/**
 * The node at a place that holds no interpolation. The values below it are resolved when they are read, so an error is
 * thrown then, and not before.
 */
function lazyNode(resolution: Resolution, place: Place): ConfigNode {
  const { node } = place;
  if (node.kind === "scalar" || !isOpen(place)) return node;
  if (node.kind === "list") {
    const items = node.items.map(
      (item, index) => () => nodeOf(resolution, place, BigInt(index), item),
    );
    return { ...node, items: lazyItems(resolution, items) };
  }
  const entries = new Map<KeyId, MapEntry>();
  for (const [id, { key, value }] of node.entries)
    entries.set(
      id,
      lazily({ key }, "value", resolution, () => nodeOf(resolution, place, key, value)),
    );
  return { ...node, entries };
}

/** Callbacks of a lazy view of a subtree. */
export interface ViewHooks {
  /** Called with the value of an interpolation when it is read. */
  readonly read?: (key: readonly Key[], node: ConfigNode) => void;
  /** Converts a subtree without unresolved interpolations. Default: `toObject`. */
  readonly closed?: (node: ConfigNode) => unknown;
  /** Called with each object and array made for a subtree that has some. */
  readonly made?: (view: object, node: ConfigNode) => void;
}

/** As `lazyNode`, but as plain data: an object or array whose properties are resolved when they are read. */
export function lazyObject(
  resolution: Resolution,
  place: Place,
  hooks: ViewHooks,
  path: readonly Key[] = [],
): unknown {
  const { node } = place;
  const { closed = toObject, made, read } = hooks;
  if (node.kind === "scalar" || !isOpen(place)) return closed(node);
  const valueAt = (key: Key, written: ConfigNode) => (): unknown => {
    const below = targetOf(resolution, place, key);
    if (below === undefined) return closed(written);
    const there = [...path, key];
    if (below.node !== written) read?.(there, below.node);
    return lazyObject(resolution, below, hooks, there);
  };
  if (node.kind === "list") {
    const items = node.items.map((item, index) => valueAt(BigInt(index), item));
    const array = lazyItems(resolution, items);
    printable(array, () => items.map((item, index) => shown(item, node.items[index])));
    made?.(array, node);
    return array;
  }
  const entries = [...node.entries.values()];
  const view: Record<string, unknown> = recordOf(entries.map(({ key }) => [key, null]));
  for (const { key, value } of entries) {
    const [name = ""] = Object.keys(recordOf([[key, null]]));
    lazily(view, name, resolution, valueAt(key, value));
  }
  printable(view, () =>
    recordOf(entries.map(({ key, value }) => [key, shown(valueAt(key, value), value)])),
  );
  made?.(view, node);
  return view;
}

/** Makes `console.log` show values, where it would show `[Getter]`. */
const printable = <T extends object>(view: T, show: () => unknown): T =>
  Object.defineProperty(view, Symbol.for("nodejs.util.inspect.custom"), {
    value: show,
    enumerable: false,
  });

/** A value that cannot be resolved is shown as its source text. */
function shown(compute: () => unknown, written: ConfigNode | undefined): unknown {
  try {
    return compute();
  } catch {
    return written === undefined ? null : toObject(written);
  }
}

/** Whether a place contains unresolved interpolations. Results of resolvers count as resolved. */
const isOpen = ({ node, result }: Place): boolean => result !== true && holdsInterpolation(node);

function holdsInterpolation(node: ConfigNode): boolean {
  if (node.kind === "list") return node.items.some(holdsInterpolation);
  if (node.kind === "map") return someValue(node, holdsInterpolation);
  return isInterpolationNode(node);
}

function someValue({ entries }: MapNode, test: (node: ConfigNode) => boolean): boolean {
  for (const { value } of entries.values()) if (test(value)) return true;
  return false;
}

function nodeOf(resolution: Resolution, place: Place, key: Key, written: ConfigNode): ConfigNode {
  const target = targetOf(resolution, place, key);
  if (target === undefined) return written;
  const node = lazyNode(resolution, target);
  return target.node === written ? node : { ...node, replaced: written };
}

/** The final place of the value at a key. What a reference adds is counted for each read. */
function targetOf(resolution: Resolution, place: Place, key: Key): Place | undefined {
  const below = resolution.places.child(place, key);
  if (below === undefined) return undefined;
  try {
    const target = resolution.dereference(below);
    if (target !== below) spend(resolution.budget, { values: 1, characters: 0 }, below);
    return target;
  } catch (error) {
    throw isConfigError(error) ? error.withRequestedKey(fullKeyOf(below)) : error;
  }
}

/** An array whose items are computed by functions; `map` and the like then read one item after the other. */
function lazyItems<T>(resolution: Resolution, items: readonly (() => T)[]): readonly T[] {
  const array: T[] = [];
  for (const [index, item] of items.entries()) lazily(array, index, resolution, item);
  return array;
}

/**
 * Defines a property that is computed when it is read; the value is kept unless an impure resolver was called for it.
 */
function lazily<Owner extends object, Name extends string | number, T>(
  owner: Owner,
  name: Name,
  { impureCalls }: Resolution,
  compute: () => T,
): Owner & { readonly [name in Name]: T } {
  const get = (): T => {
    const callsBefore = impureCalls();
    const value = compute();
    if (impureCalls() === callsBefore)
      Object.defineProperty(owner, name, { value, enumerable: true, configurable: true });
    return value;
  };
  Object.defineProperty(owner, name, { get, enumerable: true, configurable: true });
  return owner as Owner & { readonly [name in Name]: T };
}
