/** Converts scalars to declared types as OmegaConf does. */
import { isBytes } from "../../../foundation/system/builtin-types.ts";
import { ConfigError, isConfigError } from "../errors.ts";
import {
  type ConfigNode,
  type ContainerType,
  type EnumType,
  enumOf,
  isPathValue,
  type Key,
  type KeyId,
  keyId,
  type ListNode,
  type MapEntry,
  type MapNode,
  MISSING,
  type NodeType,
  type ScalarNode,
  type ScalarValue,
  type UnionType,
} from "../node.ts";
import { below, fullKeyOf, type Place } from "../place.ts";
import { parsePythonFloat, parsePythonInt, pyRepr, pyStr, pyTypeName } from "../python-text.ts";
import { describeBareType, typeRepr, wrongType } from "./type-errors.ts";

/**
 * The scalar as a value of a declared type, converted where OmegaConf converts (`"1"` to an int,
 * `1` to a string). Missing values and interpolations fit every type, null every optional one. The
 * same node when nothing had to change.
 * @throws ConfigError `value.wrong_type`
 */
export const convertScalar = (type: NodeType, node: ScalarNode, place: Place): ScalarNode =>
  isSpecial(node.value) ? withValue(type, node, node.value) : convertResolved(type, node, place);

/**
 * As `convertScalar`, for the result of an interpolation: a string that looks like an interpolation, or like the
 * missing marker, is just a string.
 * @throws ConfigError `value.wrong_type`
 */
export function convertResolved(type: NodeType, node: ScalarNode, place: Place): ScalarNode {
  const member = enumOf(node);
  const value =
    member === undefined ? convertValue(type, node.value) : convertMember(type, member, node);
  if (value === undefined) throw wrongType(type, node, place);
  return withValue(type, node, value);
}

function withValue(type: NodeType, node: ScalarNode, value: ScalarValue): ScalarNode {
  const memberType = type.kind === "union" ? holding(type, enumOf(node)) : type;
  const typed = memberType.kind === "any" ? node : { ...node, type: memberType };
  return value === node.value && node.type === memberType ? node : { ...typed, value };
}

/** The type of a union value that is a member of an enum, or of none. */
function holding(type: UnionType, held: EnumType | undefined): UnionType {
  if (type.held === held) return type;
  const { held: _, ...declared } = type;
  return held === undefined ? declared : { ...declared, held };
}

/** Undefined if the value does not fit. */
function convertValue(type: NodeType, value: ScalarValue): ScalarValue | undefined {
  if (type.kind === "any") return value;
  if (value === null) return type.optional === true ? null : undefined;
  switch (type.kind) {
    case "int":
      return toInt(value);
    case "float":
      return toFloat(value);
    case "bool":
      return toBool(value);
    case "str":
      return isBytes(value) ? undefined : pyStr(value);
    case "bytes":
      return isBytes(value) ? value : undefined;
    case "path":
      return toPath(value);
    case "enum":
      return toMember(type, value);
    case "union":
      return type.members.some((member) => isExactly(member, value)) ? value : undefined;
    default:
      return undefined;
  }
}

/** Whether the value is not known yet: it is missing, or an interpolation. */
const isSpecial = (value: ScalarValue): boolean => value === MISSING || hasInterpolation(value);

const hasInterpolation = (value: ScalarValue): boolean =>
  typeof value === "string" && value.includes("${");

/** Whether the value is known only once an interpolation is followed. */
export const isInterpolated = ({ value }: ScalarNode): boolean => hasInterpolation(value);

function toInt(value: ScalarValue): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "string" ? (parsePythonInt(value) ?? undefined) : undefined;
}

function toFloat(value: ScalarValue): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "string") return parsePythonFloat(value) ?? undefined;
  if (typeof value !== "bigint") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

const TRUE_WORDS: ReadonlySet<string> = new Set(["yes", "y", "on", "true"]);
const FALSE_WORDS: ReadonlySet<string> = new Set(["no", "n", "off", "false"]);

function toBool(value: ScalarValue): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "bigint") return value !== 0n;
  if (typeof value !== "string") return undefined;
  const number = parsePythonInt(value);
  if (number !== null) return number !== 0n;
  const word = value.toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  return FALSE_WORDS.has(word) ? false : undefined;
}

function toPath(value: ScalarValue): ScalarValue | undefined {
  if (typeof value === "string") return { path: normalizePath(value) };
  return isPathValue(value) ? value : undefined;
}

/**
 * An enum member becomes its text in a field of strings; other fields accept it only as a member (an enum, a union with
 * it, `any`).
 */
function convertMember(
  type: NodeType,
  enumType: EnumType,
  node: ScalarNode,
): ScalarValue | undefined {
  const isTaken =
    type.kind === "union"
      ? type.members.some((member) => isEnum(member, enumType))
      : type.kind === "any" || isEnum(type, enumType);
  if (isTaken) return node.value;
  return type.kind === "str" ? pyStr(node) : undefined;
}

const isEnum = (type: NodeType, enumType: EnumType): boolean =>
  type.kind === "enum" && type.name === enumType.name;

/** By name, with or without the enum's name in front, or by the value of the member. */
function toMember(type: EnumType, value: ScalarValue): string | undefined {
  if (typeof value === "bigint") {
    const index = type.values?.indexOf(value) ?? -1;
    return type.members[index];
  }
  if (typeof value !== "string") return undefined;
  const prefix = `${type.name}.`;
  const name = value.startsWith(prefix) ? value.slice(prefix.length) : value;
  return type.members.includes(name) ? name : undefined;
}

/** Unions do not convert: the value must already have one of the types. */
function isExactly(type: NodeType, value: ScalarValue): boolean {
  switch (type.kind) {
    case "any":
      return true;
    case "int":
      return typeof value === "bigint";
    case "float":
      return typeof value === "number";
    case "bool":
      return typeof value === "boolean";
    case "str":
      return typeof value === "string";
    case "bytes":
      return isBytes(value);
    case "path":
      return typeof value === "object" && value !== null && "path" in value;
    case "union":
      return type.members.some((member) => isExactly(member, value));
    default:
      return false;
  }
}

/**
 * The text of `pathlib.PurePosixPath(text)`: repeated slashes and `.` components vanish, `..` stays,
 * exactly two leading slashes are kept, and the empty path is `.`.
 */
function normalizePath(text: string): string {
  const root = /^\/\/(?!\/)/.test(text) ? "//" : text.startsWith("/") ? "/" : "";
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  return root + parts.join("/") || ".";
}

/** Types whose values OmegaConf wraps in a node of their own, which accepts any target of its interpolation. */
type WideType = ContainerType | UnionType;

/**
 * Checks that the result of an interpolation declared as a map, list, object or union is one.
 * @param convert whether a string that looks like an interpolation, or missing, counts as one, as it does where it is
 *   written
 * @throws ConfigError `value.wrong_type`
 */
export function convertWide(
  type: WideType,
  node: ConfigNode,
  place: Place,
  convert: typeof convertScalar = convertScalar,
): ConfigNode {
  if (node.kind === "scalar") return convert(type, node, { ...place, plain: true });
  if (type.kind === node.kind || (type.kind === "object" && node.kind === "map")) return node;
  throw wrongType(type, node, place);
}

/** Adds the interpolation to the error of a field that refuses its result. */
export function taking({ node }: Place, convert: () => ConfigNode): ConfigNode {
  try {
    return convert();
  } catch (error) {
    if (!isConfigError(error) || error.code !== "value.wrong_type") throw error;
    const message = `While dereferencing interpolation '${pyStr(node)}': ${error.details.message}`;
    throw new ConfigError({ ...error.details, message });
  }
}

/**
 * Checks a map or list against a type without converting its contents, as OmegaConf does for elements of a typed list
 * or map: all of them must fit, and any map is accepted for an object. Missing values and interpolations fit every
 * type, names every enum that has them.
 * @throws ConfigError `value.wrong_type`, `key.invalid_type`
 */
export function fitNode(type: NodeType, node: ConfigNode, place: Place): ConfigNode {
  if (type.kind === "any") return node;
  if (node.kind === "scalar") return fitScalar(type, node, place);
  if (node.kind === "list" && type.kind === "list") return fitList(type, node, place);
  if (node.kind === "map" && type.kind === "map") return fitMap(type, node, place);
  if (node.kind === "map" && type.kind === "object") return node;
  throw misfit(`'${pyTypeName(node)}'`, typeRepr(type), node, place);
}

function fitScalar(type: NodeType, node: ScalarNode, place: Place): ScalarNode {
  const { value } = node;
  if (value === null || isSpecial(value) || type.kind === "enum")
    return convertScalar(type, node, place);
  if (isInstance(type, node)) return node.type === type ? node : { ...node, type };
  const isBare =
    type.kind !== "object" && type.kind !== "list" && type.kind !== "map" && type.kind !== "union";
  const hint = isBare ? describeBareType(type) : typeRepr(type);
  throw misfit(`Value ${pyRepr(node)} (${pyTypeName(node)})`, hint, node, place);
}

/** Python's `isinstance`: a bool is an int; an enum member is not a string. */
const isInstance = (type: NodeType, node: ScalarNode): boolean =>
  enumOf(node) === undefined &&
  (isExactly(type, node.value) || (type.kind === "int" && typeof node.value === "boolean"));

function fitList(type: ListType, node: ListNode, place: Place): ListNode {
  const items = node.items.map((item, index) =>
    fitNode(type.element, item, below(place, node, item, BigInt(index))),
  );
  return { ...node, type, items };
}

/** An object keeps its class. */
function fitMap(type: MapType, node: MapNode, mapPlace: Place): MapNode {
  const entries = [...node.entries.values()].map(({ key, value }): [KeyId, MapEntry] => {
    const place = below(mapPlace, node, value, key);
    requireKey(type.key, key, place);
    return [keyId(key), { key, value: fitNode(type.element, value, place) }];
  });
  return node.type?.kind === "object" ? node : { ...node, type, entries: new Map(entries) };
}

type ListType = Extract<NodeType, { kind: "list" }>;
type MapType = Extract<NodeType, { kind: "map" }>;

function requireKey(type: NodeType, key: Key, place: Place): void {
  const isMember = type.kind === "enum" && typeof key === "string" && type.members.includes(key);
  if (isMember || isExactly(type, key) || (type.kind === "int" && typeof key === "boolean")) return;
  throw new ConfigError({
    code: "key.invalid_type",
    message: `Key ${pyRepr(key)} (${pyTypeName(key)}) is incompatible with key type hint '${describeBareType(type)}'`,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });
}

const misfit = (what: string, hint: string, node: ConfigNode, place: Place) =>
  new ConfigError({
    code: "value.wrong_type",
    message: `${what} is incompatible with type hint '${hint}'`,
    key: fullKeyOf(place),
    origin: node.origin,
  });
