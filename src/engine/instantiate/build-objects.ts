/** Instantiates a config from the innermost node outwards, in steps that may be asynchronous. */
import { isError } from "../../foundation/system/builtin-types.ts";
import { alternativesTo, ConfigError, isConfigError } from "../values/errors.ts";
import {
  type ConfigNode,
  type ContainerNode,
  child,
  isMissing,
  type Key,
  type MapNode,
  type ScalarValue,
} from "../values/node.ts";
import { fullKeyOf, type Place } from "../values/place.ts";
import { recordOf, toObject } from "../values/plain-objects.ts";
import { pyRepr, pyTypeName } from "../values/python-text.ts";
import { cycleError } from "../values/resolution/resolution.ts";
import { withChildren } from "../values/resolution/resolve-tree.ts";
import {
  type DeclaredTarget,
  isDeclared,
  type NamedArguments,
  type ResolvedTarget,
  resolvedTarget,
  type TargetFunction,
} from "./target.ts";
import { asUntouchedView, asView, isForeign, isRecord, nodeOf } from "./view.ts";

/**
 * The steps of an instantiation that its caller performs, since they may be asynchronous: finding the target of a name,
 * and awaiting the result of a target.
 */
export type Step =
  | { readonly kind: "locate"; readonly name: string; readonly optional?: true }
  | { readonly kind: "settle"; readonly value: unknown };

/** The tree being instantiated: its nodes, and when their interpolations are resolved. */
export interface Tree {
  /** Whether each value is resolved when it is needed; otherwise all are resolved before the first target is called. */
  readonly resolvesOnDemand: boolean;
  child(parent: Place, key: Key): Place | undefined;
  /** The target of a place's interpolation, or the place itself. */
  reach(place: Place): Place;
  /** The object that a target gets for a map or list that stays config; undefined where it is converted to data. */
  asConfig(place: Place, convert: Convert): object | undefined;
}

/** The instantiation of one node, in progress. */
export type Building<Result = unknown> = Generator<Step, Result, unknown>;

/**
 * Instantiates a place and its contents, innermost first.
 * @param args positional arguments that replace the node's own
 * @throws ConfigError `instantiate.*` with the key of the node, `value.missing`
 */
export function* build(place: Place, inherited: Mode, args: readonly unknown[] = []): Building {
  const { node } = place;
  if (node.kind === "scalar") return plainScalar(place);
  if (node.kind === "list") return yield* buildList(place, node, inside(place, below(inherited)));
  const { tree } = inherited;
  if (tree.resolvesOnDemand) refuseAllowList(place);
  const mode = inside(place, modeOf(place, inherited));
  const target = tree.child(place, "_target_");
  const isAbsent = target === undefined || (tree.resolvesOnDemand && isMissing(target.node));
  return isAbsent
    ? yield* buildMap(place, node, mode)
    : yield* buildTarget(place, { mode, target: mode.tree.reach(target).node, args });
}

/** Which targets may be called is decided by the program, not by the config. */
function refuseAllowList(place: Place): void {
  const node = child(place.node, "_target_whitelist_");
  if (node === undefined) return;
  throw new ConfigError({
    code: "instantiate.invalid",
    message:
      "_target_whitelist_ must be passed to instantiate() from trusted code, not configured inside the config being instantiated.",
    key: fullKeyOf(place, "_target_whitelist_"),
    origin: node.origin,
    hint: "here every target is on a list of the program: createTargets({ name: function })",
  });
}

function plainScalar(place: Place): unknown {
  refuseMissing(place);
  return isForeign(place.node) ? place.node.foreign : toObject(place.node);
}

function refuseMissing({ node, parent, key }: Place): void {
  if (!isMissing(node)) return;
  const fullKey = parent === null || key === undefined ? "" : fullKeyOf(parent, key);
  throw new ConfigError({
    code: "value.missing",
    message: `Missing mandatory value: ${fullKey}`,
    key: fullKey,
    origin: node.origin,
  });
}

function* buildList(place: Place, node: ContainerNode, mode: Mode): Building {
  const items: unknown[] = [];
  const shown = new Map<Key, ConfigNode>();
  for (const written of childrenOf(place, mode)) {
    const item = reach(written, mode);
    const value = yield* build(item, mode);
    items.push(value);
    shown.set(written.key, nodeOf(value) ?? item.node);
  }
  return mode.convert === "none" ? asView(items, withChildren(node, shown)) : items;
}

function* buildMap(place: Place, node: MapNode, mode: Mode): Building {
  const entries: Entry[] = [];
  const shown = new Map<Key, ConfigNode>();
  const items = childrenOf(place, mode).filter(({ key }) => !mode.isTop || !MODE_KEYS.has(key));
  // All values are checked before a target among them is called.
  if (!mode.tree.resolvesOnDemand) for (const item of items) refuseMissing(item);
  for (const written of items) {
    const item = reach(written, mode);
    refuseMissing(item);
    const value = yield* entersMaps(mode)
      ? build(item, below(mode))
      : untouched(item, { ...below(mode), convert: "none" });
    entries.push([written.key, value]);
    shown.set(written.key, nodeOf(value) ?? item.node);
  }
  const object = recordOf(entries);
  if (isView(node, mode)) return asView(object, withChildren(node, shown));
  return mode.convert === "object" ? yield* structured(place, node, object) : object;
}

/** Whether a map without `_target_` is searched for targets. */
const entersMaps = ({ recursive, tree }: Mode): boolean => recursive || !tree.resolvesOnDemand;

/** Structured configs stay configs with `partial`, too. */
const isView = (node: ConfigNode, { convert }: Mode): boolean =>
  convert === "none" || (convert === "partial" && node.type?.kind === "object");

/** A structured config becomes an instance of the class registered under the name of its type. */
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
  const { tree } = mode;
  const staysConfig = !mode.recursive && mode.convert === "none";
  const entries: Entry[] = [];
  for (const written of childrenOf(place, mode)) {
    const isGiven = tree.resolvesOnDemand && written.key === "_args_" && call.args.length > 0;
    if (MODE_KEYS.has(written.key) || (mode.partial && isMissing(written.node)) || isGiven)
      continue;
    const item = reach(written, mode);
    const value =
      mode.recursive || item.node.kind === "scalar"
        ? yield* build(item, below(mode))
        : // Positional arguments are read one by one, unless those of the call replace them.
          written.key === "_args_" && staysConfig && call.args.length === 0
          ? yield* eachUntouched(item, below(mode))
          : yield* untouched(item, below(mode));
    entries.push([written.key, value]);
  }
  const named = recordOf(entries.filter(([key]) => key !== "_args_"));
  // `_args_` must be a list even if arguments of the call replace it.
  const configured = positional(
    place,
    found,
    entries.find(([key]) => key === "_args_"),
  );
  const args = call.args.length > 0 ? call.args : configured;
  const target = entries.every(([key]) => typeof key === "string") ? found : withoutCall(found);
  if (mode.partial) return partialOf(target, args, named, failureOf(place, target));
  try {
    return yield { kind: "settle", value: target.invoke(args, named) };
  } catch (error) {
    throw failureOf(place, target)(error);
  }
}

function* eachUntouched(place: Place, mode: Mode): Building {
  if (place.node.kind !== "list") return yield* untouched(place, mode);
  const items: unknown[] = [];
  for (const written of childrenOf(place, mode)) {
    const item = reach(written, mode);
    refuseMissing(item);
    items.push(yield* untouched(item, mode));
  }
  return items;
}

/**
 * A target that fails when it is called, for keys that are no strings: Python accepts those for a partial, and refuses
 * the call.
 */
const withoutCall = (target: ResolvedTarget): ResolvedTarget => ({
  ...target,
  invoke() {
    throw new TypeError("keywords must be strings");
  },
});

function positional(place: Place, target: ResolvedTarget, entry: Entry | undefined) {
  if (entry === undefined) return [];
  if (Array.isArray(entry[1])) return entry[1] as readonly unknown[];
  const node = child(place.node, "_args_");
  const type = node === undefined ? "null" : pyTypeName(node);
  throw new ConfigError({
    code: "instantiate.invalid",
    message: `Error in collecting args and kwargs for '${target.name}': Unsupported _args_ type: '${type}', it must be a list`,
    key: fullKeyOf(place, "_args_"),
    origin: node?.origin,
  });
}

/** The target that a node names, or the function that the node holds. */
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

/** Converts the error of a target to that of the node that calls it. */
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
  isError(error) ? `${error.name}: ${error.message}` : String(error);

/** The argument for a target that does not want its config instantiated. */
function* untouched(place: Place, mode: Mode): Building {
  const { node } = place;
  if (node.kind === "scalar") return isForeign(node) ? node.foreign : toObject(node);
  const config = mode.tree.asConfig(place, mode.convert);
  if (config !== undefined) return config;
  const entries: Entry[] = [];
  const shown = new Map<Key, ConfigNode>();
  const within = inside(place, mode);
  for (const written of childrenOf(place, mode)) {
    const item = reach(written, within);
    entries.push([written.key, yield* untouched(item, within)]);
    shown.set(written.key, item.node);
  }
  if (node.kind === "list") return entries.map(([, item]) => item);
  const object = recordOf(entries);
  if (isView(node, mode)) return asUntouchedView(object, withChildren(node, shown));
  return mode.convert === "object" ? yield* structured(place, node, object) : object;
}

type Entry = readonly [Key, unknown];

type ChildPlace = Place & { readonly key: Key };

function childrenOf(parent: Place, { tree }: Mode): readonly ChildPlace[] {
  const { node } = parent;
  if (node.kind === "scalar") return [];
  const keys =
    node.kind === "list"
      ? node.items.map((_, index) => BigInt(index))
      : [...node.entries.values()].map(({ key }) => key);
  return keys.map((key) => tree.child(parent, key)).filter(isChild);
}

const isChild = (place: Place | undefined): place is ChildPlace => place?.key !== undefined;

/**
 * The result of `_partial_: true`, like `functools.partial`: a function that calls the target with the arguments of the
 * config and those of its call. Positional arguments are appended to those of the config; a plain object at the end
 * holds named arguments, which override those of the config.
 */
type Partial = (...args: readonly unknown[]) => unknown;

/** @param failure converts an error of the target to that of its config */
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

/** The form in which maps and lists are passed as arguments. */
export type Convert = "none" | "partial" | "object" | "all";

const CONVERSIONS: readonly Convert[] = ["none", "partial", "object", "all"];

/** How a node is instantiated; its children inherit all but `partial`. */
export interface Mode {
  readonly convert: Convert;
  readonly recursive: boolean;
  readonly partial: boolean;
  /** Whether this is the place passed to `instantiate`, where `_convert_` and the like are no data. */
  readonly isTop?: boolean;
  /** The maps and lists that are being instantiated, the innermost first. */
  readonly open?: OpenPlace;
  readonly tree: Tree;
}

interface OpenPlace {
  readonly place: Place;
  readonly around: OpenPlace | undefined;
}

export const defaultMode = (tree: Tree): Mode => ({
  convert: "none",
  recursive: true,
  partial: false,
  isTop: true,
  tree,
});

const below = (mode: Mode): Mode => ({ ...mode, partial: false, isTop: false });

const inside = (place: Place, mode: Mode): Mode => ({
  ...mode,
  open: { place, around: mode.open },
});

/**
 * The target of a place's interpolation, or the place itself.
 * @throws ConfigError `interpolation.cycle` for one that leads to what is being instantiated around it
 */
function reach(written: Place, { open, tree }: Mode): Place {
  const reached = tree.reach(written);
  for (let around = open; around !== undefined; around = around.around)
    if (around.place === reached) throw cycleError(written, "Recursive interpolation detected");
  return reached;
}

/** Keys of a map that control the call of its target and are not arguments. */
export const MODE_KEYS: ReadonlySet<Key> = new Set([
  "_target_",
  "_convert_",
  "_recursive_",
  "_partial_",
]);

/**
 * The mode of a map: its own keys override what it inherits.
 * @throws ConfigError `instantiate.invalid` for an invalid mode
 */
export function modeOf(place: Place, inherited: Mode): Mode {
  return {
    ...inherited,
    convert: readConvert(place, inherited) ?? inherited.convert,
    recursive: readFlag(place, "_recursive_", inherited) ?? inherited.recursive,
    partial: readFlag(place, "_partial_", inherited) ?? inherited.partial,
  };
}

/** The value of a mode key; a missing one counts as absent. */
function specialKey(place: Place, name: string, { tree }: Mode): ConfigNode | undefined {
  const written = tree.child(place, name);
  return written === undefined || isMissing(written.node) ? undefined : tree.reach(written).node;
}

function readFlag(place: Place, name: string, mode: Mode): boolean | undefined {
  const node = specialKey(place, name, mode);
  if (node === undefined) return undefined;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  throw new ConfigError({
    code: "instantiate.invalid",
    message: `Instantiation: ${name} flag must be a bool, got ${pyTypeName(node)}`,
    key: fullKeyOf(place, name),
    origin: node.origin,
  });
}

function readConvert(place: Place, mode: Mode): Convert | undefined {
  const node = specialKey(place, "_convert_", mode);
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
