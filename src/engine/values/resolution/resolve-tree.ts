/** Resolves all interpolations of a tree. */
import type { Dialect } from "../dialect.ts";
import { ConfigError, isConfigError } from "../errors.ts";
import { checkSyntax, isInterpolationNode } from "../interpolation/interpolation-parser.ts";
import { charactersOf, sizeOf, spend, spendCharacters } from "../limits.ts";
import {
  type ConfigNode,
  type ContainerNode,
  child,
  holdsContainer,
  isContainerType,
  isMissing,
  type Key,
  type KeyId,
  keyId,
  type ListNode,
  MAX_PASS_DEPTH,
  type MapEntry,
  type MapNode,
  MISSING,
  type ScalarNode,
} from "../node.ts";
import {
  checkNotReadonly,
  checkSettable,
  fullKeyOf,
  type Place,
  type Walk,
  writeTo,
} from "../place.ts";
import { bareValue, convertNode, convertWritten } from "../types/convert.ts";
import { convertWide } from "../types/convert-scalar.ts";
import type { ResolveContext } from "./context.ts";
import { createResolution } from "./evaluate-interpolation.ts";
import { cycleError, isInterpolation, missingValue, type Resolution } from "./resolution.ts";

export interface ResolveOptions {
  /** Refuse missing values (`???`). Default: false, they are kept. */
  readonly throwOnMissing?: boolean;
  /**
   * The result of an interpolation that leads to a missing value: an error, as in
   * `OmegaConf.to_container(resolve=True)`; missing; or what `OmegaConf.resolve` of the dialect makes of it. Default:
   * "error".
   */
  readonly toMissing?: "error" | "missing" | "as resolved";
  /**
   * Refuse values that cannot be assigned in a config: plain maps and lists made by resolvers, strings with invalid
   * interpolation syntax, and any value of a read-only node. Default: false.
   */
  readonly onlyValues?: boolean;
  /**
   * References see the values resolved before them, as if those were written to the tree: with `a: ${uuid:}`, a later
   * `b: ${a}` has the same value, and a map converted to a string shows its resolved values. Default: false, each
   * reference is evaluated on its own.
   */
  readonly inPlace?: boolean;
}

/** The options of `OmegaConf.resolve`, which writes the resolved values to the config. */
export const IN_PLACE = { toMissing: "as resolved", onlyValues: true, inPlace: true } as const;

/**
 * The tree with all interpolations resolved. Unchanged nodes are shared with the input, and a
 * map or list that is referred to several times is resolved once and shared in the result. A
 * resolved node keeps its interpolation as `replaced`.
 * @throws ConfigError of the first interpolation that cannot be resolved, `value.missing`, `limit.values` or
 *   `limit.characters`
 */
export function resolveTree(
  root: ConfigNode,
  context: ResolveContext,
  options: ResolveOptions = {},
): ConfigNode {
  const resolution = createResolution(root, context);
  return resolveDeep(resolution, resolution.root, options);
}

/** The tree with what can be resolved: some values are known only in a run, and their interpolations stay. */
export function resolveWherePossible(config: ConfigNode, context: ResolveContext): ConfigNode {
  const resolution = createResolution(config, context);
  const visit = (place: Place): ConfigNode => {
    const { node } = place;
    const below = (key: Key, written: ConfigNode): ConfigNode => {
      const inner = resolution.places.child(place, key);
      return inner === undefined ? written : visit(inner);
    };
    if (node.kind === "list")
      return { ...node, items: node.items.map((item, index) => below(BigInt(index), item)) };
    if (node.kind === "map") {
      const entries = [...node.entries].map(
        ([id, { key, value }]) => [id, { key, value: below(key, value) }] as const,
      );
      return { ...node, entries: new Map(entries) };
    }
    if (!isInterpolationNode(node)) return node;
    try {
      return resolveDeep(resolution, place, { toMissing: "missing" });
    } catch (error) {
      if (isConfigError(error)) return node;
      throw error;
    }
  };
  return visit(resolution.root);
}

/**
 * Resolves a place and everything below it.
 * @throws ConfigError as `resolveTree`
 */
export function resolveDeep(
  resolution: Resolution,
  place: Place,
  options: ResolveOptions = {},
): ConfigNode {
  const { refusesToMissing } = resolution.context.dialect;
  const { toMissing } = options;
  const inVersion = refusesToMissing ? "error" : "missing";
  const chosen: ResolveOptions =
    toMissing === "as resolved" ? { ...options, toMissing: inVersion } : options;
  const deep: Deep = {
    resolution,
    options: chosen,
    done: new Map(),
    open: new Map(),
    unsettled: 0,
  };
  const value = resolvePlace(deep, place);
  return deep.unsettled > 0 ? asWritten(deep, place) : value;
}

interface Deep {
  readonly resolution: Resolution;
  readonly options: ResolveOptions;
  readonly done: Map<Place, ConfigNode>;
  /** The maps and lists being resolved, outermost first, each with the place that led to it. */
  readonly open: Map<Place, Place>;
  /**
   * The number of written values that are interpolations themselves: the next reference to such a place resolves it.
   */
  unsettled: number;
}

function resolvePlace(deep: Deep, place: Place): ConfigNode {
  const value = resolvedAt(deep, place);
  if (deep.options.inPlace === true && value !== place.node) {
    writeTo(place, value);
    if (isInterpolationNode(value)) deep.unsettled++;
  }
  return value;
}

function resolvedAt(deep: Deep, place: Place): ConfigNode {
  const target = follow(deep, place);
  const { onlyValues, throwOnMissing } = deep.options;
  if (target === undefined) {
    if (onlyValues === true) checkSettable(place);
    return { ...place.node, kind: "scalar", value: MISSING };
  }
  if (throwOnMissing === true && isMissing(target.node))
    throw missingValue(place, deep.resolution.context);
  const found = resolveBelow(deep, target, place);
  if (target === place) return found;
  const { dialect } = deep.resolution.context;
  const node = onlyValues === true ? writtenValue(found, target, place, dialect) : found;
  // A value made for this place was counted when it was made.
  if (node.replaced === place.node) return node;
  count(deep.resolution, node, place);
  return inPlaceOf(node, place.node);
}

/** Counts the size of a reference's value beyond that of its own text, which the value replaces. */
function count({ budget, sizes }: Resolution, node: ConfigNode, place: Place): void {
  const written = place.node.kind === "scalar" ? charactersOf(place.node.value) : 0;
  if (node.kind !== "scalar") {
    const { values, characters } = sizeOf(node, sizes);
    spend(budget, { values: values - 1, characters }, place);
  } else if (typeof node.value === "string" || typeof node.value === "bigint") {
    const added = charactersOf(node.value) - written;
    if (added > 0) spendCharacters(budget, added, place);
  }
}

/** The node, with another one as its `replaced`. */
function inPlaceOf(node: ConfigNode, replaced: ConfigNode): ConfigNode {
  // A spread copy with an additional field costs another allocation, and most nodes are bare scalars.
  if (node.kind === "scalar" && node.type === undefined && node.flags === undefined)
    return {
      kind: "scalar",
      value: node.value,
      ...(node.literal === true && { literal: true }),
      origin: node.origin,
      replaced,
    };
  return { ...node, replaced };
}

function follow(deep: Deep, place: Place): Place | undefined {
  if (!isInterpolation(place)) return place;
  if (place.parent === null)
    throw new ConfigError({
      code: "value.wrong_type",
      message: "Cannot resolve interpolation for a node without a parent",
      origin: place.node.origin,
    });
  try {
    return deep.resolution.dereference(place);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    if (error.code === "interpolation.to_missing" && deep.options.toMissing === "missing")
      return undefined;
    throw error.withRequestedKey(fullKeyOf(place));
  }
}

function resolveBelow(deep: Deep, target: Place, from: Place): ConfigNode {
  const { node } = target;
  if (node.kind === "scalar" || target.result === true) return node;
  const cached = deep.done.get(target);
  if (cached !== undefined) return cached;
  if (deep.open.has(target)) throw cycleThrough(deep, target, from);
  if (deep.open.size >= MAX_PASS_DEPTH)
    throw cycleError(target, `Maps and lists are nested more than ${MAX_PASS_DEPTH} levels deep`);
  deep.open.set(target, from);
  const changesBefore = changesIn(deep);
  const value =
    node.kind === "map" ? resolveMap(deep, target, node) : resolveList(deep, target, node);
  deep.open.delete(target);
  if (deep.options.inPlace === true) writeTo(target, value);
  if (changesIn(deep) === changesBefore) deep.done.set(target, value);
  return value;
}

/** A counter that changes if a map or list could resolve to another value the next time. */
const changesIn = ({ options, resolution, unsettled }: Deep): number =>
  options.inPlace === true ? unsettled : resolution.impureCalls();

/**
 * The final state of a place and its children: an interpolation that was written to a map or list may have been
 * resolved by a later reference, after the map or list had been copied into its parent.
 */
function asWritten(deep: Deep, place: Place): ConfigNode {
  const { node } = place;
  if (node.kind === "scalar") return node;
  const later = new Map<Key, ConfigNode>();
  for (const below of deep.resolution.places.knownBelow(place)) {
    const value = asWritten(deep, below);
    if (below.key !== undefined && value !== child(node, below.key)) later.set(below.key, value);
  }
  return later.size === 0 ? node : withChildren(node, later);
}

/** A copy of a map or list with some values replaced; the node itself if none differs. */
export function withChildren(
  node: ContainerNode,
  values: ReadonlyMap<Key, ConfigNode>,
): ContainerNode {
  const changed = [...values].filter(([key, value]) => child(node, key) !== value);
  if (changed.length === 0) return node;
  if (node.kind === "list")
    return { ...node, items: node.items.map((item, index) => values.get(BigInt(index)) ?? item) };
  const entries = new Map(node.entries);
  for (const [key, value] of changed) entries.set(keyId(key), { key, value });
  return { ...node, entries };
}

/** The error of a place that leads back into a map or list around it, with the interpolations on the way. */
function cycleThrough({ open }: Deep, target: Place, from: Place): ConfigError {
  const targets = [...open.keys()];
  const inside = targets.slice(targets.indexOf(target) + 1);
  const steps = [...inside.map((place) => open.get(place) ?? place), from].filter(isInterpolation);
  const keys = [...steps.map((place) => fullKeyOf(place)), fullKeyOf(target)];
  return cycleError(from, `Recursive interpolation detected: ${keys.join(" -> ")}`);
}

function resolveMap(deep: Deep, place: Place, node: MapNode): MapNode {
  const walk = deep.resolution.places.walk(place);
  let entries: Map<KeyId, MapEntry> | undefined;
  node.entries.forEach((entry, id) => {
    const value = resolveChild(deep, place, walk, entry.key, entry.value);
    if (value === entry.value && entries === undefined) return;
    if (entries === undefined) {
      const resolved = entriesBefore(node, id);
      entries = resolved;
      if (walk !== undefined) walk.resolved = (asked) => resolved.get(asked)?.value;
    }
    entries.set(id, value === entry.value ? entry : { key: entry.key, value });
  });
  return entries === undefined ? node : { ...node, entries };
}

function entriesBefore(node: MapNode, id: KeyId): Map<KeyId, MapEntry> {
  const earlierEntries = new Map<KeyId, MapEntry>();
  for (const [other, entry] of node.entries) {
    if (other === id) break;
    earlierEntries.set(other, entry);
  }
  return earlierEntries;
}

function resolveList(deep: Deep, place: Place, node: ListNode): ListNode {
  const walk = deep.resolution.places.walk(place);
  let items: ConfigNode[] | undefined;
  node.items.forEach((item, index) => {
    const value = resolveChild(deep, place, walk, BigInt(index), item);
    if (value === item && items === undefined) return;
    if (items === undefined) {
      const resolved = node.items.slice(0, index);
      items = resolved;
      if (walk !== undefined) walk.resolved = (asked) => resolved[Number(asked)];
    }
    items.push(value);
  });
  return items === undefined ? node : { ...node, items };
}

function resolveChild(
  deep: Deep,
  parent: Place,
  walk: Walk | undefined,
  key: Key,
  node: ConfigNode,
): ConfigNode {
  // Most values contain no interpolation, and need no place.
  if (isPlain(node)) return node;
  if (walk !== undefined && node.kind === "scalar") return resolveVisited(deep, walk, key, node);
  const child = deep.resolution.places.child(parent, key);
  return child === undefined ? node : resolvePlace(deep, child);
}

function resolveVisited(deep: Deep, walk: Walk, key: Key, node: ScalarNode): ConfigNode {
  const { resolution } = deep;
  const place = walk.visit(key, node);
  const callsBefore = resolution.impureCalls();
  const value = resolvePlace(deep, place);
  // References need the place of a map or list, and a value that is not final must be resolved again.
  const isValue =
    value.kind === "scalar" &&
    value.type === undefined &&
    !isMissing(value) &&
    (deep.options.inPlace !== true || !isInterpolationNode(value));
  if (!isValue || resolution.impureCalls() !== callsBefore) walk.keep(place);
  return value;
}

/** Whether a node resolves to itself, whatever the options are. */
const isPlain = (node: ConfigNode): boolean =>
  node.kind === "scalar" &&
  (typeof node.value !== "string" || (!node.value.includes("${") && node.value !== MISSING));

/**
 * The value of an interpolation, converted and checked for being written to its place.
 * @param value the resolved target
 * @throws ConfigError `value.readonly`, `value.wrong_type`, `interpolation.syntax`
 */
function writtenValue(
  value: ConfigNode,
  target: Place,
  place: Place,
  dialect: Dialect,
): ConfigNode {
  const { type } = place.node;
  const isReplaced = type === undefined && holdsContainer(target.node) && target.result !== true;
  if (isReplaced && place.parent !== null) checkNotReadonly(place.parent, place);
  else checkSettable(place);
  if (!dialect.keepsResolved || target.node.kind === "scalar")
    refuseNoValue(target, place, dialect);
  if (type === undefined) return holdsContainer(target.node) ? value : bareValue(value);
  if (!isContainerType(type) && type.kind !== "union") return convertWritten(type, value, place);
  const fitting = convertWide(type, value, place);
  return target.result === true && fitting.kind !== "scalar"
    ? convertNode(type, fitting, { ...place, plain: true })
    : convertWritten(type, fitting, place);
}

function refuseNoValue({ node, result }: Place, place: Place, dialect: Dialect): void {
  if (result !== true) return;
  if (isInterpolationNode(node)) checkSyntax(node.value, dialect);
  // A declared map or list accepts plain data.
  if (node.kind === "scalar" || isContainerType(place.node.type)) return;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Value '${node.kind === "map" ? "dict" : "list"}' is not a supported primitive type`,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });
}
