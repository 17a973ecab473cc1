import {
  anything,
  checkOptions,
  listOf,
  type OptionChecks,
  optional,
  recordOf,
  text,
  withMethods,
} from "../values/check-options.ts";
import { mergeNodes } from "../values/edit/merge.ts";
import { ConfigError } from "../values/errors.ts";
import { keyComponents, nearestKey } from "../values/key-path.ts";
import {
  type ConfigNode,
  isMissing,
  type KeyId,
  keyId,
  type MapEntry,
  type MapNode,
} from "../values/node.ts";
import { fromCode } from "../values/origin.ts";
import { type Place, withFlags } from "../values/place.ts";
import { pyTypeName } from "../values/python-text.ts";
import {
  createResolveContext,
  type ResolveContext,
  resolveContext,
} from "../values/resolution/context.ts";
import { createResolution } from "../values/resolution/evaluate.ts";
import {
  isInterpolation,
  type Resolution,
  selectPath,
  tryDereference,
} from "../values/resolution/resolution.ts";
import { resolveDeep } from "../values/resolution/resolve-tree.ts";
import {
  type Building,
  build,
  DEFAULT_MODE,
  MODE_KEYS,
  type Mode,
  modeOf,
  type Step,
} from "./build.ts";
import type { ResolvedTarget, ResultOf } from "./target.ts";
import { NO_TARGETS, type TargetMap, type Targets } from "./targets.ts";
import { isForeign, toTree } from "./view.ts";

/** A composed config: what `compose` gives and a task gets. */
interface ConfigWithContext {
  readonly root: ConfigNode;
  readonly context: ResolveContext;
}

/** What to instantiate of a config, and with what beside it. */
export interface InstantiateOptions<Entries extends TargetMap = TargetMap> {
  /** What `_target_` may name. Default: nothing but functions that stand there themselves. */
  readonly targets?: Targets<Entries>;
  /** The part of the config to instantiate, such as `optimizer`. Default: all of it. */
  readonly key?: string;
  /** Positional arguments; they take the place of `_args_`. */
  readonly args?: readonly unknown[];
  /**
   * Named arguments, merged over the config: plain data merges, objects of the program's are passed
   * as they are. `_convert_`, `_recursive_`, `_partial_`, `_args_` and `_target_` may be among them.
   */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Resolvers for a config that is plain data or a node. */
  readonly context?: ResolveContext;
}

/** A config that is written in the program, with the name of a registered target. */
export interface TargetConfig<Name extends string = string> {
  readonly _target_: Name;
  readonly [key: string]: unknown;
}

/**
 * `hydra.utils.instantiate`: calls the targets of a config, the innermost first, with what stands
 * beside them as arguments. Anything else in it is handed through, null gives null.
 *
 * It does not wait: a target that gives a promise hands a promise on, and modules must have been
 * imported. `instantiateAsync` waits.
 *
 * @throws ConfigError `instantiate.target`, `instantiate.failed` (with what the target threw as its
 *   cause) and `instantiate.invalid`, each with the key; `value.missing`; those of interpolations
 */
export function instantiate<Entries extends TargetMap, Name extends keyof Entries & string>(
  config: TargetConfig<Name>,
  options: InstantiateOptions<Entries> & { readonly targets: Targets<Entries> },
): ResultOf<Entries[Name]>;
export function instantiate<Result = unknown>(
  config: unknown,
  options?: InstantiateOptions,
): Result;
export function instantiate(config: unknown, options: InstantiateOptions = {}): unknown {
  checkOptions("instantiate", options, INSTANTIATE_OPTIONS);
  const building = begin(config, options);
  const targets = options.targets ?? NO_TARGETS;
  let next = building.next();
  while (next.done !== true) {
    const step = next.value;
    let answer: unknown;
    try {
      answer = step.kind === "settle" ? step.value : locate(step, targets);
    } catch (error) {
      next = building.throw(error);
      continue;
    }
    next = building.next(answer);
  }
  return next.value;
}

/**
 * As `instantiate`, and waits: modules of `module:export` are imported, and what a target promises
 * is awaited before the target around it is called. Targets are called one after the other, in the
 * order of the config.
 *
 * @throws ConfigError as `instantiate`
 */
export function instantiateAsync<Entries extends TargetMap, Name extends keyof Entries & string>(
  config: TargetConfig<Name>,
  options: InstantiateOptions<Entries> & { readonly targets: Targets<Entries> },
): Promise<Awaited<ResultOf<Entries[Name]>>>;
export function instantiateAsync<Result = unknown>(
  config: unknown,
  options?: InstantiateOptions,
): Promise<Result>;
export async function instantiateAsync(
  config: unknown,
  options: InstantiateOptions = {},
): Promise<unknown> {
  checkOptions("instantiateAsync", options, INSTANTIATE_OPTIONS);
  return settle(begin(config, options), options.targets ?? NO_TARGETS);
}

/**
 * As `instantiateAsync`, of what stands at keys of a composed config, which may have dots in them.
 *
 * @throws ConfigError as `instantiate`
 */
export const instantiateAt = (
  { root, context }: ConfigWithContext,
  path: readonly string[],
  targets: Targets,
): Promise<unknown> =>
  settle(buildAt({ root, context, path, key: path.join("."), overrides: {} }, []), targets);

async function settle(building: Building, targets: Targets): Promise<unknown> {
  let next = building.next();
  while (next.done !== true) {
    const step = next.value;
    let answer: unknown;
    try {
      answer = await (step.kind === "settle" ? step.value : load(step, targets));
    } catch (error) {
      next = building.throw(error);
      continue;
    }
    next = building.next(answer);
  }
  return next.value;
}

const INSTANTIATE_OPTIONS: OptionChecks<InstantiateOptions> = {
  targets: optional(
    withMethods(["resolve", "load"], "targets", "make them with createTargets({ name: function })"),
  ),
  key: optional(text),
  args: optional(listOf("arguments", anything)),
  overrides: optional(recordOf(anything)),
  context: optional(resolveContext),
};

type LocateStep = Extract<Step, { kind: "locate" }>;

const locate = (step: LocateStep, targets: Targets): ResolvedTarget | undefined =>
  isUnknown(step, targets) ? undefined : targets.resolve(step.name);

const load = async (step: LocateStep, targets: Targets): Promise<ResolvedTarget | undefined> =>
  isUnknown(step, targets) ? undefined : targets.load(step.name);

const isUnknown = ({ name, optional }: LocateStep, { names }: Targets): boolean =>
  optional === true && !names.includes(name);

function* begin(config: unknown, options: InstantiateOptions): Building {
  const { key = "", args = [], overrides = {} } = options;
  const path = key === "" ? [] : keyComponents(key);
  return yield* buildAt({ ...treeOf(config, options), path, key, overrides }, args);
}

function* buildAt(part: Preparation, args: readonly unknown[]): Building {
  const { key, overrides } = part;
  const place = prepare(part);
  if (place === undefined) return null;
  const { node } = place;
  if (node.kind !== "map") return yield* build(place, modeOfList(overrides, key), args);
  return yield* build({ ...place, node: withoutMode(node) }, modeOf(place, DEFAULT_MODE), args);
}

/** At the top they say how to instantiate, also where there is no target; further down they are data then. */
function withoutMode(node: MapNode): MapNode {
  const entries = new Map(node.entries);
  for (const name of MODE_KEYS) if (name !== "_target_") entries.delete(keyId(name));
  return { ...node, entries };
}

function treeOf(config: unknown, { context }: InstantiateOptions): ConfigWithContext {
  if (isComposed(config)) return { root: config.root, context: context ?? config.context };
  return {
    root: toTree(config, fromCode("instantiate()")),
    context: context ?? createResolveContext(),
  };
}

const isComposed = (config: unknown): config is ConfigWithContext =>
  typeof config === "object" && config !== null && "root" in config && "context" in config;

/** A list has no keys of its own: of the overrides only those that say how can be meant. */
function modeOfList(overrides: Readonly<Record<string, unknown>>, key: string): Mode {
  const node = toTree(overrides, fromCode("overrides of instantiate()"));
  const mode = modeOf({ kind: "place", node, parent: null }, DEFAULT_MODE);
  const other = Object.keys(overrides).find((name) => !MODE_KEYS.has(name));
  if (!mode.partial && other === undefined) return mode;
  throw new ConfigError({
    code: "instantiate.invalid",
    message: mode.partial
      ? "The _partial_ keyword is not compatible with top-level list instantiation"
      : `A list takes no named arguments: there is nothing to override with '${other}'`,
    ...(key !== "" && { key }),
  });
}

interface Preparation {
  readonly root: ConfigNode;
  /** The keys that lead to the part of the tree that is meant; none for all of it. */
  readonly path: readonly string[];
  /** That part as messages name it. */
  readonly key: string;
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly context: ResolveContext;
}

/**
 * The place that is to be instantiated, resolved where it stands in its tree and with the overrides
 * merged into it; undefined for null.
 *
 * As in Hydra the overrides are merged before anything is resolved: what refers to them relatively
 * sees them, and what refers to them from the root sees the tree as it was.
 *
 * @throws ConfigError `key.not_found`, `instantiate.invalid`, and of interpolations
 */
function prepare({ root, path, key, overrides, context }: Preparation): Place | undefined {
  const resolution = createResolution(root, context);
  const found = find(resolution, path, key);
  const { node } = found;
  if (node.kind === "scalar") {
    if (node.value === null && !isForeign(node)) return undefined;
    throw notContainer(node, key);
  }
  const merged = node.kind === "map" ? merge(resolution, found, overrides) : node;
  // What stands at the root is its own root: an override of it is seen from everywhere.
  const place: Place = { ...found, node: merged };
  const alone = place.parent === null ? createResolution(merged, context) : undefined;
  const resolved = alone
    ? resolveDeep(alone, alone.root, LENIENT)
    : resolveDeep(resolution, place, LENIENT);
  return { ...place, node: resolved };
}

/** Missing values are refused where a target wants them, not here. */
const LENIENT = { toMissing: "missing", inPlace: true } as const;

function find(resolution: Resolution, path: readonly string[], key: string): Place {
  const place = selectPath(resolution, resolution.root, path, {
    throwOnMissing: true,
    scalarsAreEmpty: true,
  });
  if (place !== undefined) return place;
  throw new ConfigError({
    code: "key.not_found",
    message: `Key '${key}' not found in config`,
    key,
    ...nearestKey(resolution.root.node, key),
  });
}

function merge(
  resolution: Resolution,
  place: Place,
  overrides: Readonly<Record<string, unknown>>,
): ConfigNode {
  const open = withFlags(place.node, { struct: false, readonly: false });
  if (Object.keys(overrides).length === 0) return open;
  const over = toTree(overrides, fromCode("overrides of instantiate()"));
  const expanded = expand(resolution, { ...place, node: open }, over);
  return mergeNodes([expanded, over], resolution.context);
}

/** Puts in what the interpolations lead to that an override merges something into. */
function expand(resolution: Resolution, place: Place, over: ConfigNode): ConfigNode {
  const target = isInterpolation(place) ? tryDereference(resolution, place) : place;
  if (target === undefined || target.node.kind === "scalar") return place.node;
  if (target.node.kind !== "map" || over.kind !== "map") return target.node;
  const entries = new Map<KeyId, MapEntry>(target.node.entries);
  for (const [id, { value }] of over.entries) {
    const entry = entries.get(id);
    const below = entry && resolution.places.child(target, entry.key);
    if (entry === undefined || below === undefined || value.kind === "scalar") continue;
    entries.set(id, { key: entry.key, value: expand(resolution, below, value) });
  }
  return { ...target.node, entries } satisfies MapNode;
}

const notContainer = (node: ConfigNode, key: string): ConfigError =>
  new ConfigError({
    code: isMissing(node) ? "value.missing" : "instantiate.invalid",
    message: `Cannot instantiate config of type ${pyTypeName(node)}: it must be a map or a list`,
    ...(key !== "" && { key }),
    origin: node.origin,
  });
