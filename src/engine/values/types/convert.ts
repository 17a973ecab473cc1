/** Converts maps, lists and objects to declared types as OmegaConf does. */
import type { Dialect } from "../dialect.ts";
import { ConfigError } from "../errors.ts";
import {
  type ConfigNode,
  enumOf,
  isContainerType,
  isMissing,
  type Key,
  type KeyId,
  keyId,
  type ListNode,
  type MapEntry,
  type MapNode,
  type NodeType,
  type ObjectType,
  scalar,
} from "../node.ts";
import { below, fullKeyOf, type Place, resultPlace } from "../place.ts";
import { keyText, pyTypeName } from "../python-text.ts";
import {
  convertResolved,
  convertScalar,
  convertWide,
  fitNode,
  isInterpolated,
  taking,
} from "./convert-scalar.ts";
import { describeType, notOfClass, notOptional, wrongType } from "./type-errors.ts";

/**
 * A node as a value of a declared type: scalars are converted, maps and lists get their elements
 * converted, an object may only have the keys it declares. The same node when nothing had to change.
 * @throws ConfigError `value.wrong_type`, `key.invalid_type`, `value.struct` (an undeclared key)
 */
export function convertNode(type: NodeType, node: ConfigNode, place: Place): ConfigNode {
  if (type.kind === "any") return node;
  if (node.kind === "scalar") return convertScalar(type, node, place);
  if (node.kind === "list" && type.kind === "list") {
    const items = node.items.map((item, index) =>
      convertItem(type.element, item, below(place, node, item, BigInt(index))),
    );
    return { ...node, type, items };
  }
  if (node.kind === "map" && (type.kind === "map" || type.kind === "object"))
    return convertMap(type, node, place);
  throw wrongType(type, node, place);
}

/**
 * Converts an element of a typed list or map. Scalars are converted, and so is plain data. Elements that are lists or
 * maps of a config must already fit; in a container of scalars they are accepted unchecked.
 * @throws ConfigError as `convertNode`
 */
export function convertElement(type: NodeType, node: ConfigNode, place: Place): ConfigNode {
  if (node.kind === "scalar" || type.kind === "object" || place.plain === true)
    return convertNode(type, node, place);
  return type.kind === "list" || type.kind === "map" ? fitNode(type, node, place) : node;
}

/**
 * Converts an entry of a typed map. Where elements are lists or maps, a config's node is only checked for fitting, and
 * any map is accepted for an object.
 * @throws ConfigError as `convertNode`
 */
export const convertEntry = (type: NodeType, node: ConfigNode, place: Place): ConfigNode =>
  place.plain !== true && isContainerType(type)
    ? fitNode(type, node, place)
    : convertElement(type, node, place);

/**
 * Converts an item of a typed list.
 * @throws ConfigError as `convertNode`
 */
export function convertItem(type: NodeType, node: ConfigNode, place: Place): ConfigNode {
  checkInterpolatedItem(type, node, place);
  if (isRefusedNull(type, node)) throw notOfClass(type, node, place);
  return convertElement(type, node, place);
}

/**
 * OmegaConf refuses an interpolation as an item of a list of objects, but accepts it wherever else an object may stand.
 * @throws ConfigError `value.wrong_type`
 */
export function checkInterpolatedItem(type: NodeType, node: ConfigNode, place: Place): void {
  if (type.kind === "object" && node.kind === "scalar" && isInterpolated(node))
    throw wrongType(type, node, place);
}

/**
 * For an entry of a map, or the replacement of an item.
 * @throws ConfigError `value.wrong_type` for null where the type is not optional
 */
export function checkNullable(type: NodeType, node: ConfigNode, place: Place): void {
  if (isRefusedNull(type, node)) throw notOptional(type, node, place);
}

/**
 * The checks that OmegaConf makes before it checks whether a map is writable: null needs an optional type, and a map or
 * an object can only be replaced by another one.
 * @throws ConfigError `value.wrong_type`
 */
export function checkMapType(type: NodeType, node: ConfigNode, place: Place): void {
  checkNullable(type, node, place);
  if (node.kind === "scalar" && (node.value === null || isMissing(node) || isInterpolated(node)))
    return;
  if (type.kind === "object" && !isObjectOf(type, node)) throw notOfClass(type, node, place);
  if (type.kind === "map" && (node.kind !== "map" || node.type?.kind === "object"))
    throw wrongType(type, node, place);
}

const isRefusedNull = (type: NodeType, node: ConfigNode): boolean =>
  node.kind === "scalar" && node.value === null && type.kind !== "any" && type.optional !== true;

/**
 * Converts the value of an interpolation to a map or list that is written to a place of a declared type: scalars in it
 * are converted. Where the type is a class, also of a list's items, the value must be an object of that class.
 * @throws ConfigError as `convertNode`
 */
export function convertWritten(type: NodeType, node: ConfigNode, target: Place): ConfigNode {
  if (node.kind === "scalar") return node;
  if (type.kind === "object") return requireObject(type, node, target);
  if (type.kind === "list" && node.kind === "list") {
    const { element } = type;
    const items = node.items.map((item, index) => {
      const place = below(target, node, item, BigInt(index));
      if (item.kind === "scalar") return convertItem(element, item, place);
      return element.kind === "object"
        ? requireObject(element, item, place)
        : convertAmong(element, item, place);
    });
    return { ...node, type, items };
  }
  if (type.kind !== "map" || node.kind !== "map") return node;
  if (node.type?.kind === "object") throw wrongType(type, node, target);
  const { element } = type;
  const entries = [...node.entries.values()].map(({ key, value }): [KeyId, MapEntry] => {
    const place = below(target, node, value, key);
    const converted = convertKey(type.key, key, place);
    checkNullable(element, value, place);
    const written = isContainerType(element)
      ? fitNode(element, value, place)
      : convertAmong(element, value, place);
    return [keyId(converted), { key: converted, value: written }];
  });
  return { ...node, type, entries: new Map(entries) };
}

/**
 * Converts the result of an interpolation to the declared type of its node. For a map, list, object or union OmegaConf
 * up to 2.3 checks the type only when the value is written, not when it is read; from 2.4 on it converts what does not
 * have exactly this type, which is then a copy.
 *
 * @param declared whether to check it when it is read, too
 * @throws ConfigError `value.wrong_type`, `key.invalid_type`
 * @see https://github.com/omry/omegaconf/issues/1332
 */
export function convertResult(
  place: Place,
  result: Place,
  dialect: Dialect,
  declared = false,
): Place {
  const { type } = place.node;
  if (type === undefined || type.kind === "any") return result;
  const { node } = result;
  const plainPlace = { ...place, plain: true };
  if (isContainerType(type) || type.kind === "union") {
    if (!dialect.convertsReferred) {
      if (!declared) return result;
      const fitting = convertWide(type, node, place, convertResolved);
      return fitting === node ? result : resultPlace(fitting, place);
    }
    if (node.kind !== "scalar" && isSameType(node.type, type)) return result;
    const converted = taking(place, () => {
      const fitting = convertWide(type, node, place, convertResolved);
      return fitting.kind === "scalar" ? fitting : convertNode(type, fitting, plainPlace);
    });
    return converted === node ? result : resultPlace(converted, place);
  }
  const converted = taking(place, () => {
    if (node.kind === "scalar") return convertResolved(type, node, plainPlace);
    throw wrongType(type, node, place);
  });
  return converted === node ? result : resultPlace(converted, place);
}

/** Whether two declared types are the same. */
function isSameType(type: NodeType | undefined, other: NodeType): boolean {
  if (type === other) return true;
  if (type === undefined || type.kind !== other.kind) return false;
  return describeType(type) === describeType(other);
}

/** A node without the declared type of its field, if it is a scalar. */
export function bareValue(node: ConfigNode): ConfigNode {
  // An enum member needs its type: its value is only the member's name.
  if (node.kind !== "scalar" || node.type === undefined || enumOf(node) !== undefined) return node;
  const { type: _, ...bare } = node;
  return bare;
}

/** Maps and lists are accepted unchecked among scalars, and maps among objects. */
function convertAmong(element: NodeType, value: ConfigNode, place: Place): ConfigNode {
  const isTaken =
    element.kind === "object"
      ? value.kind === "map"
      : value.kind !== "scalar" && element.kind !== "list" && element.kind !== "map";
  return isTaken ? value : convertElement(element, value, place);
}

function requireObject(type: ObjectType, node: MapNode | ListNode, place: Place): ConfigNode {
  if (isObjectOf(type, node)) return node;
  throw wrongType(type, node, place);
}

type MapType = Extract<NodeType, { kind: "map" }> | ObjectType;

function convertMap(type: MapType, node: MapNode, mapPlace: Place): MapNode {
  if (node.type?.kind === "object" && type.kind === "object")
    return convertObject(type, node, mapPlace);
  if (node.type?.kind === "object") throw wrongType(type, node, mapPlace);
  if (type.kind === "object" && mapPlace.plain === true) throw notOfClass(type, node, mapPlace);
  const entries = new Map<KeyId, MapEntry>();
  for (const entry of node.entries.values()) {
    const keyPlace = below(mapPlace, node, entry.value, entry.key);
    const key = type.kind === "map" ? convertKey(type.key, entry.key, keyPlace) : entry.key;
    const place = { ...keyPlace, key };
    const valueType = type.kind === "map" ? type.element : fieldType(type, key, place);
    checkNullable(valueType, entry.value, place);
    const value =
      type.kind === "map"
        ? convertEntry(valueType, entry.value, place)
        : convertNode(valueType, entry.value, place);
    entries.set(keyId(key), { key, value });
  }
  return { ...node, type, entries };
}

function convertObject(type: ObjectType, node: MapNode, place: Place): MapNode {
  if (node.type?.kind !== "object" || extendsType(node.type, type)) return node;
  throw notOfClass(type, node, place);
}

const isObjectOf = (type: ObjectType, { type: nodeType }: ConfigNode): boolean =>
  nodeType?.kind === "object" && extendsType(nodeType, type);

/** Whether an object type is `base` or extends it. */
export const extendsType = (type: ObjectType, base: ObjectType): boolean =>
  type.name === base.name || type.bases?.includes(base.name) === true;

function fieldType(type: ObjectType, key: Key, place: Place): NodeType {
  const field = typeof key === "string" ? type.fields.get(key) : undefined;
  if (field !== undefined) return field;
  throw new ConfigError({
    code: "value.struct",
    message: `Key '${keyText(key)}' not in '${type.name}'`,
    key: fullKeyOf(place),
    origin: place.node.origin,
    available: [...type.fields.keys()],
  });
}

/**
 * A key of a typed map. Keys are not converted, except `0` and `1` to booleans and the notations of enum members.
 * @throws ConfigError `key.invalid_type`
 */
export function convertKey(type: NodeType, key: Key, place: Place): Key {
  if (type.kind === "any") return key;
  if (type.kind === "bool" && (keyId(key) === 0n || keyId(key) === 1n)) return keyId(key) === 1n;
  if (type.kind === "enum") return enumKey(type, key, place);
  if (pyTypeName(key) === describeType(type) || (type.kind === "int" && typeof key === "boolean"))
    return key;
  throw incompatibleKey(type, key, place);
}

function enumKey(type: Extract<NodeType, { kind: "enum" }>, key: Key, place: Place): Key {
  try {
    const { value } = convertScalar(type, scalar(key, place.node.origin), place);
    if (typeof value === "string") return value;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  throw incompatibleKey(type, key, place);
}

function incompatibleKey(type: NodeType, key: Key, place: Place): ConfigError {
  return new ConfigError({
    code: "key.invalid_type",
    message:
      type.kind === "enum"
        ? `Key '${keyText(key)}' is incompatible with the enum type '${type.name}', valid: [${type.members.join(", ")}]`
        : `Key ${keyText(key)} (${pyTypeName(key)}) is incompatible with (${describeType(type)})`,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });
}
