import { plural } from "../text/plural.ts";
import { checkTree, type ForeignTypes } from "./check-tree.ts";
import type { Draft } from "./draft.ts";
import { putChild } from "./draft.ts";
import { ConfigError } from "./errors.ts";
import { flagAt } from "./flags.ts";
import { isInterpolationNode } from "./interpolation/parse-node.ts";
import { alternativesTo } from "./nearest.ts";
import type { ConfigNode, Key } from "./node.ts";
import { child, isMissing } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf } from "./place.ts";
import { keyText } from "./python-text.ts";
import { refuseReadonly } from "./readonly.ts";
import { replacing } from "./replaced.ts";
import {
  convertElement,
  convertEntry,
  convertItem,
  convertKey,
  convertNode,
  convertWritten,
  refuseInterpolatedItem,
  refuseNull,
  refuseOtherMap,
  refuseUnlikeMap,
} from "./types/convert.ts";
import { convertWide } from "./types/convert-result.ts";
import { fitNode } from "./types/fit.ts";
import { elementType, isContainerType } from "./types/type-of.ts";

/** How a value is set where that differs. */
export interface AssignRules {
  /** As in `checkTree`. */
  readonly foreign?: ForeignTypes;
  /** The value is plain data, and not part of a config: so it is called where it is refused. */
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
  const at: Place = { kind: "place", node: value, parent, key, ...(plain && { plain }) };
  // OmegaConf looks at the key before the flag, but for values that fit everywhere.
  const fitsEverywhere = isMissing(value) || isInterpolationNode(value);
  if (parent.node.kind === "list" || fitsEverywhere) refuseReadonly(parent, at);
  refuseItemOfClass(parent, value, at);
  const known = normalizeKey(parent, key, at);
  if (flagAt(parent, "readonly")) {
    const type = child(parent.node, known)?.type ?? elementType(parent.node, known);
    if (type !== undefined) refuseUnlikeMap(type, value, at);
    refuseReadonly(parent, at);
  }
  const old = child(parent.node, known);
  const typed = withType(parent, known, value, known === key ? at : { ...at, key: known });
  checkTree(value, at, foreign);
  putChild(parent, known, replacing(typed, old));
}

/** A list of objects looks at what it is given before it looks where. */
function refuseItemOfClass({ node }: Draft, value: ConfigNode, at: Place): void {
  const { type } = node;
  if (type?.kind !== "list" || type.element.kind !== "object" || isMissing(value)) return;
  convertItem(type.element, value, at);
}

/**
 * The value in the type of the field that it is for, or of the elements of the container. The class of
 * an object says what may be in it; what may take its place is for the container to say.
 */
function withType(parent: Draft, key: Key, value: ConfigNode, at: Place): ConfigNode {
  const old = child(parent.node, key);
  const element = elementType(parent.node, key);
  const isField = parent.node.type?.kind === "object";
  const isDeclared = old === undefined ? isField : old.kind === "scalar";
  const own = old?.type ?? (isDeclared ? element : undefined);
  if (parent.node.kind === "list" && element !== undefined)
    refuseInterpolatedItem(element, value, at);
  if (own !== undefined && own.kind !== "object") {
    refuseNull(own, value, at);
    return at.plain !== true && isContainerType(own)
      ? convertWritten(own, convertWide(own, value, at), at)
      : convertNode(own, value, at);
  }
  if (element === undefined) return value;
  if (old !== undefined && own !== undefined && element.kind === "object")
    refuseOtherMap(element, value, at);
  // A map or list that was taken in among scalars would be optional: then the conversion refuses null.
  if (old === undefined || own !== undefined) refuseNull(element, value, at);
  if (!isField && isOfOwnType(value) && element.kind !== "union")
    return fitNode(element, value, at);
  return parent.node.kind === "list" || isField
    ? convertElement(element, value, at)
    : convertEntry(element, value, at);
}

/** What has a declared type already is not converted to another one: it fits, or it does not. */
const isOfOwnType = ({ kind, type }: ConfigNode): boolean =>
  kind === "scalar" && type !== undefined && type.kind !== "union" && !isContainerType(type);

/**
 * The key as the container knows it.
 * @throws ConfigError where there may be no such key
 */
export function normalizeKey(parent: Draft, key: Key, at: Place): Key {
  const { node } = parent;
  if (node.kind === "list") return listIndex(node.items.length, key, at);
  const known = node.type?.kind === "map" ? convertKey(node.type.key, key, at) : key;
  if (child(node, known) === undefined) refuseNewKey(parent, known, at);
  return known;
}

/**
 * The index of an item, which may be counted from the end.
 * @throws ConfigError `key.not_found` for one outside of the list
 */
export function listIndex(length: number, key: Key, at: Place): bigint {
  const index = typeof key === "bigint" ? key : -1n;
  const position = index < 0n ? index + BigInt(length) : index;
  if (position >= 0n && position < BigInt(length)) return position;
  throw new ConfigError({
    code: "key.not_found",
    message: "list index out of range",
    key: fullKeyOf(at),
    origin: at.node.origin,
    hint: `the list has ${plural(length, "item")}`,
  });
}

/** @throws ConfigError `value.struct` where a map takes no other keys than it has */
export function refuseNewKey(parent: Place, key: Key, at: Place): void {
  const { node } = parent;
  const isObject = node.type?.kind === "object";
  if (isObject ? node.flags?.struct === false : !flagAt(parent, "struct")) return;
  // A field that the type has and nobody has set yet.
  if (node.type?.kind === "object" && typeof key === "string" && node.type.fields.has(key)) return;
  const available =
    node.kind === "map" ? [...node.entries.values()].map((entry) => keyText(entry.key)) : [];
  const where = node.type?.kind === "object" ? `not in '${node.type.name}'` : "is not in struct";
  throw new ConfigError({
    code: "value.struct",
    message: `Key '${keyText(key)}' ${where}`,
    key: fullKeyOf(at),
    origin: at.node.origin,
    ...alternativesTo(keyText(key), available),
  });
}
