import { alternativesTo, ConfigError, isConfigError } from "../values/errors.ts";
import {
  type ConfigNode,
  child,
  isMissing,
  type Key,
  type MapNode,
  type ScalarValue,
} from "../values/node.ts";
import { fullKeyOf, type Place } from "../values/place.ts";
import { recordOf, toObject } from "../values/plain-objects.ts";
import { pyRepr, pyTypeName } from "../values/python-text.ts";
import {
  type DeclaredTarget,
  isDeclared,
  type NamedArguments,
  type ResolvedTarget,
  resolvedTarget,
  type TargetFunction,
} from "./target.ts";
import { asUntouchedView, asView, isForeign, isRecord } from "./view.ts";

/**
 * What the instantiation of a tree needs from outside, one after the other: the target of a name,
 * and the value that a target's result comes to. Its caller decides whether that may wait.
 */
export type Step =
  | { readonly kind: "locate"; readonly name: string; readonly optional?: true }
  | { readonly kind: "settle"; readonly value: unknown };

/** The instantiation of one node, under way. */
export type Building<Result = unknown> = Generator<Step, Result, unknown>;

/**
 * Instantiates a resolved node and what is in it, the innermost first.
 * @param args positional arguments that take the place of the node's own
 * @throws ConfigError `instantiate.*` with the key of the node, `value.missing`
 */
export function* build(place: Place, inherited: Mode, args: readonly unknown[] = []): Building {
  const { node } = place;
  if (node.kind === "scalar") return plainScalar(place);
  if (node.kind === "list") return yield* buildList(place, { ...inherited, partial: false });
  const mode = modeOf(place, inherited);
  const target = child(node, "_target_");
  return target === undefined
    ? yield* buildMap(place, node, mode)
    : yield* buildTarget(place, { mode, target, args });
}

function plainScalar(place: Place): unknown {
  refuseMissing(place);
  return isForeign(place.node) ? place.node.foreign : toObject(place.node);
}

function refuseMissing({ node, parent, key }: Place): void {
  if (!isMissing(node)) return;
  const at = parent === null || key === undefined ? "" : fullKeyOf(parent, key);
  throw new ConfigError({
    code: "value.missing",
    message: `Missing mandatory value: ${at}`,
    key: at,
    origin: node.origin,
  });
}

function* buildList(place: Place, mode: Mode): Building {
  const items: unknown[] = [];
  for (const item of childrenOf(place)) items.push(yield* build(item, mode));
  return mode.convert === "none" ? asView(items, place.node) : items;
}

function* buildMap(place: Place, node: MapNode, mode: Mode): Building {
  const below: Mode = { ...mode, partial: false };
  const entries: Entry[] = [];
  const items = childrenOf(place);
  // All values are asked for before a target among them is called.
  for (const item of items) refuseMissing(item);
  for (const item of items) entries.push([item.key, yield* build(item, below)]);
  const object = recordOf(entries);
  if (isView(node, mode)) return asView(object, node);
  return mode.convert === "object" ? yield* structured(place, node, object) : object;
}

/** Those of structured configs stay configs with `partial`, too. */
const isView = (node: ConfigNode, { convert }: Mode): boolean =>
  convert === "none" || (convert === "partial" && node.type?.kind === "object");

/** A structured config becomes an object of the class that is registered by the name of its type. */
function* structured(
  place: Place,
  node: MapNode,
  object: Readonly<Record<string, unknown>>,
): Building {
  if (node.type?.kind !== "object") return object;
  const found = yield { kind: "locate", name: node.type.name, optional: true };
  if (found === undefined) return object;
  const target = found as ResolvedTarget;
  try {
    return target.invoke([], object);
  } catch (error) {
    throw failureOf(place, target)(error);
  }
}

interface TargetCall {
  readonly mode: Mode;
  readonly target: ConfigNode;
  readonly args: readonly unknown[];
}

function* buildTarget(place: Place, call: TargetCall): Building {
  const found = yield* findTarget(place, call.target);
  const { mode } = call;
  const below: Mode = { ...mode, partial: false };
  const staysConfig = !mode.recursive && mode.convert === "none";
  const entries: Entry[] = [];
  for (const item of childrenOf(place)) {
    if (MODE_KEYS.has(item.key) || (mode.partial && isMissing(item.node))) continue;
    // Positional arguments are read one by one, unless those of the call take their place.
    if (item.key === "_args_" && staysConfig && call.args.length === 0)
      for (const argument of childrenOf(item)) refuseMissing(argument);
    const value =
      mode.recursive || item.node.kind === "scalar"
        ? yield* build(item, below)
        : yield* untouched(item, below);
    entries.push([item.key, value]);
  }
  const named = recordOf(entries.filter(([key]) => key !== "_args_"));
  // What is no list is refused even where arguments of the call take its place.
  const own = positional(
    place,
    found,
    entries.find(([key]) => key === "_args_"),
  );
  const args = call.args.length > 0 ? call.args : own;
  const target = entries.every(([key]) => typeof key === "string") ? found : withoutCall(found);
  if (mode.partial) return partialOf(target, args, named, failureOf(place, target));
  try {
    return yield { kind: "settle", value: target.invoke(args, named) };
  } catch (error) {
    throw failureOf(place, target)(error);
  }
}

/** A target whose arguments have other names than texts: Python makes a partial of them, and calls nothing. */
const withoutCall = (target: ResolvedTarget): ResolvedTarget => ({
  ...target,
  invoke() {
    throw new TypeError("keywords must be strings");
  },
});

function positional(place: Place, target: ResolvedTarget, own: Entry | undefined) {
  if (own === undefined) return [];
  if (Array.isArray(own[1])) return own[1] as readonly unknown[];
  const node = child(place.node, "_args_");
  const type = node === undefined ? "null" : pyTypeName(node);
  throw new ConfigError({
    code: "instantiate.invalid",
    message: `Error in collecting args and kwargs for '${target.name}': Unsupported _args_ type: '${type}', it must be a list`,
    key: fullKeyOf(place, "_args_"),
    origin: node?.origin,
  });
}

/** The target that a node names, or the function that stands there itself. */
function* findTarget(place: Place, node: ConfigNode): Building<ResolvedTarget> {
  if (isForeign(node) && isTarget(node.foreign))
    return resolvedTarget(nameOf(node.foreign), node.foreign);
  const key = fullKeyOf(place);
  const about = { ...(key !== "" && { key }), origin: node.origin };
  if (node.kind !== "scalar" || typeof node.value !== "string")
    throw new ConfigError({
      ...about,
      code: "instantiate.target",
      message: `Expected a callable target, got a value of type '${pyTypeName(node)}'`,
    });
  if (isMissing(node))
    throw new ConfigError({
      ...about,
      code: "value.missing",
      message: `Missing mandatory value: ${fullKeyOf(place, "_target_")}`,
      key: fullKeyOf(place, "_target_"),
    });
  try {
    return (yield { kind: "locate", name: node.value }) as ResolvedTarget;
  } catch (error) {
    throw isConfigError(error) ? new ConfigError({ ...error.details, ...about }) : error;
  }
}

const isTarget = (value: unknown): value is DeclaredTarget | TargetFunction =>
  typeof value === "function" || isDeclared(value);

const nameOf = (value: DeclaredTarget | TargetFunction): string =>
  (isDeclared(value) ? value.callable : value).name || "(anonymous)";

/** The error of a call, told as the failure of the node that it stands for. */
const failureOf =
  (place: Place, target: ResolvedTarget) =>
  (error: unknown): ConfigError => {
    const key = fullKeyOf(place);
    const origin = child(place.node, "_target_")?.origin ?? place.node.origin;
    return new ConfigError({
      code: "instantiate.failed",
      message: `Error in call to target '${target.name}': ${describe(error)}`,
      ...(key !== "" && { key }),
      origin,
      cause: error,
    });
  };

const describe = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** What a target gets that does not want what is in its config instantiated. */
function* untouched(place: Place, mode: Mode): Building {
  const { node } = place;
  if (node.kind === "scalar") return isForeign(node) ? node.foreign : toObject(node);
  const entries: Entry[] = [];
  for (const item of childrenOf(place)) entries.push([item.key, yield* untouched(item, mode)]);
  if (node.kind === "list") {
    const items = entries.map(([, item]) => item);
    return mode.convert === "none" ? asUntouchedView(items, node) : items;
  }
  const object = recordOf(entries);
  if (isView(node, mode)) return asUntouchedView(object, node);
  return mode.convert === "object" ? yield* structured(place, node, object) : object;
}

type Entry = readonly [Key, unknown];

function childrenOf(parent: Place): readonly (Place & { readonly key: Key })[] {
  const { node } = parent;
  if (node.kind === "list")
    return node.items.map((item, index) => ({
      kind: "place",
      node: item,
      parent,
      key: BigInt(index),
    }));
  if (node.kind === "scalar") return [];
  return [...node.entries.values()].map(({ key, value }) => ({
    kind: "place",
    node: value,
    parent,
    key,
  }));
}

/**
 * What `_partial_: true` gives, as `functools.partial`: a function that calls the target with the
 * arguments of the config and those of its call. Positional ones follow the config's; a plain object
 * at the end is named arguments, which win over the config's.
 */
export type Partial = (...args: readonly unknown[]) => unknown;

/** @param failure turns what the target throws into the error of its config */
function partialOf(
  target: ResolvedTarget,
  args: readonly unknown[],
  named: NamedArguments,
  failure: (error: unknown) => Error,
): Partial {
  const call: Partial = (...more) => {
    const last = more.at(-1);
    const isNamed = isRecord(last);
    const positional = isNamed ? more.slice(0, -1) : more;
    try {
      return target.invoke([...args, ...positional], isNamed ? { ...named, ...last } : named);
    } catch (error) {
      throw failure(error);
    }
  };
  return Object.defineProperty(call, "name", { value: `partial(${target.name})` });
}

/** What maps and lists become that are arguments. */
export type Convert = "none" | "partial" | "object" | "all";

const CONVERSIONS: readonly Convert[] = ["none", "partial", "object", "all"];

/** How a node is instantiated; what is below it inherits all but `partial`. */
export interface Mode {
  readonly convert: Convert;
  readonly recursive: boolean;
  readonly partial: boolean;
}

export const DEFAULT_MODE: Mode = { convert: "none", recursive: true, partial: false };

/** Keys of a map that say how its target is called and are no arguments. */
export const MODE_KEYS: ReadonlySet<Key> = new Set([
  "_target_",
  "_convert_",
  "_recursive_",
  "_partial_",
]);

/**
 * The mode of a map: its own keys over what it inherits.
 * @throws ConfigError `instantiate.invalid` for other values than there are
 */
export function modeOf(place: Place, inherited: Mode): Mode {
  return {
    convert: readConvert(place) ?? inherited.convert,
    recursive: readFlag(place, "_recursive_") ?? inherited.recursive,
    partial: readFlag(place, "_partial_") ?? inherited.partial,
  };
}

/** What is missing counts as not there. */
function given(place: Place, name: string): ConfigNode | undefined {
  const node = child(place.node, name);
  return node === undefined || isMissing(node) ? undefined : node;
}

function readFlag(place: Place, name: string): boolean | undefined {
  const node = given(place, name);
  if (node === undefined) return undefined;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  throw new ConfigError({
    code: "instantiate.invalid",
    message: `Instantiation: ${name} flag must be a bool, got ${pyTypeName(node)}`,
    key: fullKeyOf(place, name),
    origin: node.origin,
  });
}

function readConvert(place: Place): Convert | undefined {
  const node = given(place, "_convert_");
  if (node === undefined) return undefined;
  const value: ScalarValue | undefined = node.kind === "scalar" ? node.value : undefined;
  if (value === null) return "none";
  const text = typeof value === "string" ? value.toLowerCase() : "";
  const found = CONVERSIONS.find((convert) => convert === text);
  if (found !== undefined) return found;
  throw new ConfigError({
    code: "instantiate.invalid",
    message: `Instantiation: there is no _convert_ mode ${pyRepr(node)}`,
    key: fullKeyOf(place, "_convert_"),
    origin: node.origin,
    ...alternativesTo(text, CONVERSIONS),
  });
}
