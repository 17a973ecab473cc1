import type { EnumType, NodeType, ScalarNode, ScalarValue, UnionType } from "../node.ts";
import { isPathValue, MISSING } from "../node.ts";
import type { Place } from "../place.ts";
import { parsePythonFloat, parsePythonInt } from "../python-number.ts";
import { pyStr } from "../python-text.ts";
import { normalizePath } from "./normalize-path.ts";
import { enumOf } from "./type-of.ts";
import { wrongType } from "./wrong-type.ts";

/**
 * The scalar as a value of a declared type, converted where OmegaConf converts (`"1"` to an int,
 * `1` to a string). Missing values and interpolations fit every type, null every optional one. The
 * same node when nothing had to change.
 * @throws ConfigError `value.wrong_type`
 */
export const convertScalar = (type: NodeType, node: ScalarNode, at: Place): ScalarNode =>
  isSpecial(node.value) ? withValue(type, node, node.value) : convertResolved(type, node, at);

/**
 * As `convertScalar` for what an interpolation gave: there a text that looks like another one, or like a
 * missing value, is a text.
 * @throws ConfigError `value.wrong_type`
 */
export function convertResolved(type: NodeType, node: ScalarNode, at: Place): ScalarNode {
  const member = enumOf(node);
  const value =
    member === undefined ? convertValue(type, node.value) : convertMember(type, member, node);
  if (value === undefined) throw wrongType(type, node, at);
  return withValue(type, node, value);
}

function withValue(type: NodeType, node: ScalarNode, value: ScalarValue): ScalarNode {
  const own = type.kind === "union" ? holding(type, enumOf(node)) : type;
  const typed = own.kind === "any" ? node : { ...node, type: own };
  return value === node.value && node.type === own ? node : { ...typed, value };
}

/** The type of a value in the place of a union, which is a member of an enum or of none. */
function holding(type: UnionType, held: EnumType | undefined): UnionType {
  if (type.held === held) return type;
  const { held: _, ...declared } = type;
  return held === undefined ? declared : { ...declared, held };
}

/** Undefined when the value does not fit. */
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
      return value instanceof Uint8Array ? undefined : pyStr(value);
    case "bytes":
      return value instanceof Uint8Array ? value : undefined;
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

/** Whether what a scalar is will be known when it is given, or its interpolation is followed. */
export const isSpecial = (value: ScalarValue): boolean =>
  value === MISSING || hasInterpolation(value);

const hasInterpolation = (value: ScalarValue): boolean =>
  typeof value === "string" && value.includes("${");

/** Whether what a scalar is will be known when its interpolation is followed. */
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

/** A member of an enum has a text, and is otherwise taken as what it is alone. */
function convertMember(type: NodeType, own: EnumType, node: ScalarNode): ScalarValue | undefined {
  const isTaken =
    type.kind === "union"
      ? type.members.some((member) => isEnum(member, own))
      : type.kind === "any" || isEnum(type, own);
  if (isTaken) return node.value;
  return type.kind === "str" ? pyStr(node) : undefined;
}

const isEnum = (type: NodeType, own: EnumType): boolean =>
  type.kind === "enum" && type.name === own.name;

/** By name, with or without the enum's name before it, or by the value of the member. */
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

/** In a union nothing is converted: the value must already have the type of a member. */
export function isExactly(type: NodeType, value: ScalarValue): boolean {
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
      return value instanceof Uint8Array;
    case "path":
      return typeof value === "object" && value !== null && "path" in value;
    case "union":
      return type.members.some((member) => isExactly(member, value));
    default:
      return false;
  }
}
