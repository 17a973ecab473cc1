/** Setting a child of a map or a list, by OmegaConf's rules of types and flags. */
import { firstFew, plural } from "../../../foundation/text/plural.ts";
import { DEFAULT_DIALECT, type Dialect } from "../dialect.ts";
import { alternativesTo, ConfigError } from "../errors.ts";
import { isInterpolationNode } from "../interpolation/interpolation-parser.ts";
import { ambiguousKey, ambiguousKeys } from "../key-path.ts";
import {
  type ConfigNode,
  child,
  elementType,
  isContainerType,
  isMissing,
  isMissingOrNull,
  type Key,
  type MapNode,
  type NodeType,
} from "../node.ts";
import { checkNotReadonly, flagAt, fullKeyOf, type Place } from "../place.ts";
import { keyText, pyStr, pyTypeName } from "../python-text.ts";
import type { ResolveContext } from "../resolution/context.ts";
import {
  checkInterpolatedItem,
  checkMapType,
  checkNullable,
  convertElement,
  convertEntry,
  convertItem,
  convertKey,
  convertNode,
  convertWritten,
  extendsType,
} from "../types/convert.ts";
import { convertWide, fitNode } from "../types/convert-scalar.ts";
import { notOfClass, notOptional, wrongType } from "../types/type-errors.ts";
import { checkTree, type ForeignTypes } from "../yaml/check-tree.ts";
import { type Draft, type DraftList, follow, putChild, tryFollow } from "./draft.ts";

/** Variants of setting a value. */
export interface AssignRules {
  /** As in `checkTree`. */
  readonly foreign?: ForeignTypes;
  /** The value is plain data and not a node of a config; errors name its type accordingly. */
  readonly plain?: boolean;
}

/**
 * Sets a child of a map or list by OmegaConf's rules: `struct` refuses new keys, `readonly` refuses
 * everything, and a declared type converts or refuses the value.
 * @throws ConfigError `value.struct`, `value.readonly`, `value.wrong_type`, `key.invalid_type`,
 *   `key.not_found` (a list index out of range)
 */
export function assign(
  parent: Draft,
  key: Key,
  value: ConfigNode,
  { foreign, plain = false }: AssignRules = {},
): void {
  const place: Place = { kind: "place", node: value, parent, key, ...(plain && { plain }) };
  // OmegaConf checks the key before the flag, except for values that fit every type.
  const fitsEverywhere = isMissing(value) || isInterpolationNode(value);
  if (parent.node.kind === "list" || fitsEverywhere) checkNotReadonly(parent, place);
  refuseItemOfClass(parent, value, place);
  const normalized = normalizeKey(parent, key, place);
  if (flagAt(parent, "readonly")) {
    const type = child(parent.node, normalized)?.type ?? elementType(parent.node, normalized);
    if (type !== undefined) checkMapType(type, value, place);
    checkNotReadonly(parent, place);
  }
  const old = child(parent.node, normalized);
  const typed = withType(
    parent,
    normalized,
    value,
    normalized === key ? place : { ...place, key: normalized },
  );
  checkTree(value, place, foreign, parent.copies.dialect);
  putChild(parent, normalized, replacing(typed, old));
}

/**
 * Appends to a list, by the same rules.
 * @throws ConfigError as `assign`, but for keys
 */
export function append(parent: Draft & { readonly node: DraftList }, value: ConfigNode): void {
  const key = BigInt(parent.node.items.length);
  const place: Place = { kind: "place", node: value, parent, key, plain: true };
  checkNotReadonly(parent, place);
  refuseItemOfClass(parent, value, place);
  const typed = withType(parent, key, value, place);
  checkTree(value, place, undefined, parent.copies.dialect);
  parent.node.items.push(typed);
}

/** OmegaConf's list of objects checks the value before the index. */
function refuseItemOfClass({ node }: Draft, value: ConfigNode, place: Place): void {
  const { type } = node;
  if (type?.kind !== "list" || type.element.kind !== "object" || isMissing(value)) return;
  convertItem(type.element, value, place);
}

/**
 * The value, converted to the declared type of its field or of the container's elements. The type of an object node
 * describes its contents; what may replace the object is decided by its container.
 */
function withType(parent: Draft, key: Key, value: ConfigNode, place: Place): ConfigNode {
  const old = child(parent.node, key);
  const element = elementType(parent.node, key);
  const isField = parent.node.type?.kind === "object";
  const isDeclared = old === undefined ? isField : old.kind === "scalar";
  const declaredType = old?.type ?? (isDeclared ? element : undefined);
  if (parent.node.kind === "list" && element !== undefined)
    checkInterpolatedItem(element, value, place);
  if (declaredType !== undefined && declaredType.kind !== "object") {
    checkNullable(declaredType, value, place);
    return place.plain !== true && value.kind !== "scalar" && isContainerType(declaredType)
      ? convertWritten(declaredType, convertWide(declaredType, value, place), place)
      : convertNode(declaredType, value, place);
  }
  if (element === undefined) return value;
  if (old !== undefined && declaredType !== undefined && element.kind === "object")
    checkMapType(element, value, place);
  // An untyped map or list in a container of scalars counts as optional; the conversion refuses null in its place.
  if (old === undefined || declaredType !== undefined) checkNullable(element, value, place);
  if (!isField && isOfOwnType(value) && element.kind !== "union")
    return fitNode(element, value, place);
  return parent.node.kind === "list" || isField
    ? convertElement(element, value, place)
    : convertEntry(element, value, place);
}

/** A scalar that already has a declared type is not converted: it fits another type, or it is refused. */
const isOfOwnType = ({ kind, type }: ConfigNode): boolean =>
  kind === "scalar" && type !== undefined && type.kind !== "union" && !isContainerType(type);

/**
 * The key in the form that the container uses: a list index from the start, a key of the declared type.
 * @throws ConfigError where the container can have no such key
 */
export function normalizeKey(parent: Draft, key: Key, place: Place): Key {
  const { node } = parent;
  if (node.kind === "list") return listIndex(node.items.length, key, place);
  const normalized = node.type?.kind === "map" ? convertKey(node.type.key, key, place) : key;
  if (child(node, normalized) === undefined) {
    checkNewKey(parent, normalized, place);
    const other = ambiguousKey(node, normalized, parent.copies.dialect);
    if (other !== undefined)
      throw ambiguousKeys(other, normalized, fullKeyOf(place), place.node.origin);
  }
  return normalized;
}

/**
 * The index of an item; a negative one counts from the end.
 * @throws ConfigError `key.not_found` for an index out of range
 */
export function listIndex(length: number, key: Key, place: Place): bigint {
  const index = typeof key === "bigint" ? key : -1n;
  const position = index < 0n ? index + BigInt(length) : index;
  if (position >= 0n && position < BigInt(length)) return position;
  throw new ConfigError({
    code: "key.not_found",
    message: "list index out of range",
    key: fullKeyOf(place),
    origin: place.node.origin,
    hint: `the list has ${plural(length, "item")}`,
  });
}

/** @throws ConfigError `value.struct` where a map accepts no new keys */
export function checkNewKey(parent: Place, key: Key, place: Place): void {
  const { node } = parent;
  const isObject = node.type?.kind === "object";
  if (isObject ? node.flags?.struct === false : !flagAt(parent, "struct")) return;
  // A declared field that is not set yet.
  if (node.type?.kind === "object" && typeof key === "string" && node.type.fields.has(key)) return;
  const available =
    node.kind === "map" ? [...node.entries.values()].map((entry) => keyText(entry.key)) : [];
  const where = node.type?.kind === "object" ? `not in '${node.type.name}'` : "is not in struct";
  throw new ConfigError({
    code: "value.struct",
    message: `Key '${keyText(key)}' ${where}`,
    key: fullKeyOf(place),
    origin: place.node.origin,
    ...alternativesTo(keyText(key), available),
  });
}

/** The node, with another one appended to the end of its `replaced` chain. */
export function replacing(node: ConfigNode, replaced: ConfigNode | undefined): ConfigNode {
  if (replaced === undefined || replaced === node) return node;
  const chain: ConfigNode[] = [];
  for (
    let earlier: ConfigNode | undefined = node;
    earlier !== undefined;
    earlier = earlier.replaced
  ) {
    if (earlier === replaced) return node;
    chain.push(earlier);
  }
  return chain.reduceRight((tail, link) => ({ ...link, replaced: tail }), replaced);
}

/*
 * Checks of what may be merged over what.
 */

/** A scalar that can stand in place of a map or list: null, `???` or an interpolation. */
export const isSpecialScalar = (node: ConfigNode): boolean =>
  node.kind === "scalar" && (node.value === null || isMissing(node) || isInterpolationNode(node));

/** In every field, only a map or null can be merged over an object, and no untyped interpolation. */
export function checkReplacesObject(
  dest: Place,
  key: Key,
  existing: ConfigNode,
  source: ConfigNode,
): void {
  if (existing.type?.kind !== "object" || existing.kind !== "map" || source.kind === "map") return;
  // An interpolation declared as a map or list is a DictConfig or ListConfig for OmegaConf.
  if (isMissingOrNull(source)) return;
  if (source.kind === "scalar" && isContainerType(source.type)) return;
  const found = source.kind === "list" ? "list" : pyTypeName(source);
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Merge error: ${found} is not a subclass of ${existing.type.name}. value: ${pyStr(source)}`,
    key: fullKeyOf(dest, key),
    origin: source.origin,
    hint: fieldHint(fullKeyOf(dest, key), existing, source),
  });
}

/** Where a value belongs that was given in place of the object that it is a part of. */
function fieldHint(key: string, declared: MapNode, source: ConfigNode): string | undefined {
  const fields = [...declared.entries.values()].map((entry) => String(entry.key));
  const [field] = fields;
  if (field === undefined) return undefined;
  if (fields.length > 1) return `'${key}' is a map with the keys ${firstFew(fields, 8)}`;
  const value = source.kind === "scalar" ? pyStr(source) : "VALUE";
  return `'${key}' is a map: to set ${key}.${field}, write \`${field}: ${value}\` in it`;
}

/**
 * The target of an interpolation brings the type of its own field along: a field for objects refuses a scalar in place
 * of the object, and null unless it is optional. (Other types are stored in the node, which checks them itself.)
 * @param type of the field that the interpolation led to
 */
export function checkReplacesField(
  dest: Place,
  key: Key,
  type: NodeType | undefined,
  source: ConfigNode,
): void {
  if (type?.kind !== "object" || source.kind !== "scalar") return;
  if (isMissing(source) || isInterpolationNode(source)) return;
  const place: Place = { kind: "place", node: source, parent: dest, key };
  checkNullable(type, source, place);
  if (source.value !== null) throw notOfClass(type, source, place);
}

/** The tree that a source comes from, in which its interpolations are followed. */
interface SourceSide {
  readonly from: Place;
  readonly context: ResolveContext;
}

/**
 * An interpolation that is merged over a declared map or list is followed in its own tree. It may not lead to null
 * where the type is not optional, and where the old value is null it must lead somewhere.
 * @throws ConfigError `value.wrong_type`, or the error of the interpolation
 */
export function checkReference(
  dest: Place,
  key: Key,
  existing: ConfigNode,
  source: ConfigNode,
  { from, context }: SourceSide,
): void {
  const { type } = existing;
  if (isContainerType(type) && type.kind !== "list" && type.optional !== true) {
    const target = tryFollow(from, key, context)?.node;
    if (target?.kind === "scalar" && target.value === null)
      throw notOptional(type, source, { kind: "place", node: source, parent: dest, key });
  }
  if (existing.kind === "scalar" && existing.value === null) follow(from, key, context);
}

/** An object accepts objects of its own class and of its subclasses. */
export function checkSameClass(dest: Place, source: MapNode): void {
  const [destType, other] = [dest.node.type, source.type];
  if (destType?.kind !== "object" || other?.kind !== "object" || extendsType(other, destType))
    return;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Merge error: ${other.name} is not a subclass of ${destType.name}. value: ${pyStr(source)}`,
    key: fullKeyOf(dest),
    origin: source.origin,
  });
}

/**
 * A missing value of a declared type accepts what an assignment to it would: a field for objects takes objects of its
 * class, and a typed map takes no object.
 */
export function checkReplacesMissing(place: Place, missing: ConfigNode, source: ConfigNode): void {
  const { type } = missing;
  if (!isMissing(missing) || source.type?.kind !== "object") return;
  if (type?.kind === "map") throw wrongType(type, source, place);
  if (type?.kind === "object" && !extendsType(source.type, type))
    throw notOfClass(type, source, place);
}

export const incompatible = (
  dest: Place,
  source: ConfigNode,
  { mergeRefusal }: Dialect = DEFAULT_DIALECT,
): ConfigError =>
  new ConfigError({
    code: "merge.incompatible",
    message:
      dest.node.kind !== "scalar" && source.kind !== "scalar"
        ? mergeRefusal
        : `Cannot merge ${pyTypeName(dest.node)} with ${pyTypeName(source)}`,
    key: fullKeyOf(dest),
    origin: source.origin,
  });
