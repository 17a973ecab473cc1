/** `OmegaConf.update` and dotlists: a new root with one value changed. */
import type { Dialect } from "../dialect.ts";
import { ConfigError } from "../errors.ts";
import { isInterpolationNode } from "../interpolation/interpolation-parser.ts";
import { equalsSign, keyComponents, mapKey, suggesting } from "../key-path.ts";
import { createBudget } from "../limits.ts";
import {
  type ConfigNode,
  type ContainerNode,
  child,
  emptyContainer,
  isContainerType,
  isMissing,
  type Key,
  list,
  MAX_TREE_DEPTH,
  map,
} from "../node.ts";
import { fromCode, type OverrideOrigin } from "../origin.ts";
import { fullKeyOf, type Place } from "../place.ts";
import { keyText, parsePythonInt, pyRepr } from "../python-text.ts";
import { createResolveContext, type ResolveContext } from "../resolution/context.ts";
import { fromEnd } from "../resolution/resolution.ts";
import { checkTree, type ForeignTypes } from "../yaml/check-tree.ts";
import { readConstructed } from "../yaml/reader.ts";
import { assign, checkReplacesMissing, incompatible, normalizeKey } from "./assign.ts";
import {
  type Copies,
  createCopies,
  type Draft,
  draftChild,
  draftFollowed,
  draftReferred,
  draftRoot,
} from "./draft.ts";
import { mergeInto, withoutFlag } from "./merge.ts";

export interface UpdateOptions {
  /** Merge a map or list into an existing one, instead of replacing it. Default: true. */
  readonly merge?: boolean;
  /** Add new keys in spite of `struct` and of declared fields. Default: false. */
  readonly forceAdd?: boolean;
  /** The value is plain data and not a node of a config. Affects only the wording of errors. Default: false. */
  readonly plain?: boolean;
  /** Nodes of the value whose types are not supported in a config: refused where they would be inserted. */
  readonly foreign?: ForeignTypes;
}

/**
 * `OmegaConf.update`: a new root in which `key` (`a.b[0]`) has the given value. Maps are created on the path where a
 * key is absent or holds a scalar; list items must exist.
 * @param key as text, or as the keys themselves, which may be integers or contain separators
 * @param copies for a sequence of updates: maps and lists that earlier updates of the sequence copied are changed in
 *   place, so that the roots which those updates returned are no longer valid
 * @throws ConfigError `value.struct`, `value.readonly`, `value.wrong_type`, `merge.incompatible`, `key.not_found` (a
 *   list index out of range), `key.invalid_type` (one that is no number)
 */
export function updateNode(
  root: ConfigNode,
  key: string | readonly Key[],
  value: ConfigNode,
  options: UpdateOptions = {},
  context: ResolveContext = createResolveContext(),
  copies: Copies = createCopies(createBudget(context.limits), context.dialect),
): ContainerNode {
  if (root.kind === "scalar")
    throw new ConfigError({
      code: "value.wrong_type",
      message: "Only a map or a list can be updated",
      key: typeof key === "string" ? key : key.map(keyText).join("."),
      origin: root.origin,
    });
  const components = typeof key === "string" ? keyComponents(key, context.dialect) : key;
  if (components.length > MAX_TREE_DEPTH)
    throw new ConfigError({
      code: "key.invalid_type",
      message: `A key with ${components.length} components; at most ${MAX_TREE_DEPTH} are allowed`,
      origin: value.origin,
    });
  const start = draftRoot(root, copies);
  suggesting(context.dialect, () => {
    let draft = start;
    for (const component of components.slice(0, -1))
      draft = enter(draft, component, value, options, context);
    const last = keyIn(draft, components.at(-1) ?? "", context.dialect);
    opened(draft, options, () => put(draft, last, value, options, context));
  });
  return start.node;
}

/** The map or list at a key, created if it is absent. */
function enter(
  draft: Draft,
  component: Key,
  value: ConfigNode,
  options: UpdateOptions,
  context: ResolveContext,
): Draft {
  const componentKey = keyIn(draft, component, context.dialect);
  const key =
    draft.node.kind === "list" && typeof componentKey === "bigint"
      ? fromEnd(draft.node, componentKey, context.dialect)
      : componentKey;
  const present = outOfRange(key) ? undefined : child(draft.node, key);
  if (present !== undefined && present.kind !== "scalar") return draftChild(draft, key, present);
  if (present !== undefined && isContainerType(present.type)) {
    if (!isInterpolationNode(present)) throw unset(draft, key, present);
    const followed = draftFollowed(draft, key, context);
    if (followed !== undefined) return followed;
    throw noContainer({ kind: "place", node: value, parent: draft, key });
  }
  if (present !== undefined && isInterpolationNode(present) && context.dialect.updatesReferred) {
    const referred = draftReferred(draft, key, context);
    if (referred !== undefined) return referred;
  }
  opened(draft, options, () => assign(draft, key, map([], value.origin), { plain: true }));
  const place = { kind: "place", node: value, parent: draft, key } as const;
  const normalized = normalizeKey(draft, key, place);
  const made = child(draft.node, normalized);
  if (made === undefined || made.kind === "scalar") throw noContainer(place);
  // Messages name a negative index as it was given.
  return { ...draftChild(draft, normalized, made), key };
}

const noContainer = (place: Place): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `Unexpected type for ${fullKeyOf(place)}`,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });

/** A declared map or list on the path is not created: it must already have a value. */
function unset(draft: Draft, key: Key, present: ConfigNode): ConfigError {
  const full = fullKeyOf(draft, key);
  return new ConfigError({
    code: isMissing(present) ? "value.missing" : "value.wrong_type",
    message: isMissing(present) ? `Missing mandatory value: ${full}` : `'${full}' is null`,
    key: full,
    origin: present.origin,
    hint: `set '${full}' first`,
  });
}

function put(
  draft: Draft,
  key: Key,
  value: ConfigNode,
  options: UpdateOptions,
  context: ResolveContext,
): void {
  if (options.merge !== false && value.kind !== "scalar") {
    const place = { kind: "place", node: value, parent: draft, key } as const;
    const normalized = normalizeKey(draft, key, place);
    const old = child(draft.node, normalized);
    refuseOtherKind(place, old, value, context.dialect);
    if (isUnchanged(old, value)) return;
    const present = mergeable(old, value);
    if (present !== undefined) {
      if (old !== undefined) checkReplacesMissing(place, old, value);
      checkTree(value, place, options.foreign, context.dialect);
      mergeInto(
        draftChild(draft, normalized, present),
        value,
        context,
        old !== undefined && isInterpolationNode(old),
      );
      return;
    }
  }
  assign(draft, key, value, options);
}

/** A declared map that is null stays null when an empty map is merged into it. */
const isUnchanged = (old: ConfigNode | undefined, value: ContainerNode): boolean =>
  old?.kind === "scalar" &&
  old.value === null &&
  (old.type?.kind === "map" || old.type?.kind === "object") &&
  value.kind === "map" &&
  value.entries.size === 0;

/** A declared map refuses a list, and a declared list a map, even where the old value is null or missing. */
function refuseOtherKind(
  place: Place,
  old: ConfigNode | undefined,
  value: ContainerNode,
  dialect: Dialect,
): void {
  if (old?.kind !== "scalar" || !isContainerType(old.type)) return;
  const isList = old.type?.kind === "list";
  if (isList !== (value.kind === "list"))
    throw incompatible(
      { ...place, node: isList ? list([], old.origin) : map([], old.origin) },
      value,
      dialect,
    );
}

/**
 * The node that a value is merged into. For a declared map, object or list that is missing, an empty one is created, to
 * which `struct` applies.
 */
function mergeable(present: ConfigNode | undefined, value: ConfigNode): ContainerNode | undefined {
  if (present === undefined || present.kind !== "scalar") return present;
  const { origin, type } = present;
  if (!isContainerType(type) || (type.kind === "list") !== (value.kind === "list"))
    return undefined;
  const isMade = type.kind === "list" || isMissing(present) || isInterpolationNode(present);
  return isMade ? emptyContainer(type, origin) : undefined;
}

/** List items are looked up by index; maps are asked for strings, and for the integers that they have. */
function keyIn(draft: Draft, component: Key, dialect: Dialect): Key {
  if (typeof component !== "string") return component;
  if (draft.node.kind === "map") return mapKey(draft.node, component, dialect);
  const index = parsePythonInt(component);
  if (index !== null) return index;
  throw new ConfigError({
    code: "key.invalid_type",
    message: `invalid literal for int() with base 10: ${pyRepr(component)}`,
    key: fullKeyOf(draft, component),
    origin: draft.node.origin,
  });
}

const outOfRange = (key: Key): boolean => typeof key === "bigint" && key < 0n;

/** Runs a change, with `struct` off if additions are forced. */
function opened(draft: Draft, options: UpdateOptions, change: () => void): void {
  if (options.forceAdd === true) withoutFlag(draft, "struct", change);
  else change();
}

/**
 * `OmegaConf.from_dotlist`: a map of `key=value` texts, whose values are YAML (not the language of
 * overrides). A text without `=` sets null.
 * @throws ConfigError of the YAML reader, or as `updateNode`
 */
export const fromDotlist = (dotlist: readonly string[], context?: ResolveContext): ContainerNode =>
  mergeDotlist(map([], fromCode("dotlist")), dotlist, context);

/**
 * `merge_with_dotlist`: the root with each of the texts applied to it, in order.
 * @throws ConfigError as `fromDotlist`
 */
export function mergeDotlist(
  root: ContainerNode,
  dotlist: readonly string[],
  context?: ResolveContext,
): ContainerNode;
export function mergeDotlist(
  root: ConfigNode,
  dotlist: readonly string[],
  context?: ResolveContext,
): ConfigNode;
export function mergeDotlist(
  root: ConfigNode,
  dotlist: readonly string[],
  context: ResolveContext = createResolveContext(),
): ConfigNode {
  let target = root;
  const copies = createCopies(createBudget(context.limits), context.dialect);
  for (const [index, text] of dotlist.entries()) {
    const separator = equalsSign(text, context.dialect);
    const key = separator < 0 ? text : text.slice(0, separator);
    const origin: OverrideOrigin = { kind: "override", text, index };
    const { value, foreign } = readValue(
      separator < 0 ? "" : text.slice(separator + 1),
      origin,
      context,
    );
    target = updateNode(target, key, value, { foreign, plain: true }, context, copies);
  }
  return target;
}

/** The value, with the text as its origin. `updateNode` refuses values of unsupported types. */
function readValue(text: string, origin: OverrideOrigin, context: ResolveContext) {
  const { root, foreign } = readConstructed(text, context);
  const value = { ...root, origin };
  const typeName = foreign.get(root);
  return { value, foreign: typeName === undefined ? foreign : new Map([[value, typeName]]) };
}
