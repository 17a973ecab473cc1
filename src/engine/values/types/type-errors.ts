/** Errors of values that do not fit their declared type, and the notation of types. */

import { alternativesTo, ConfigError } from "../errors.ts";
import { type ConfigNode, enumOf, isContainerType, type NodeType } from "../node.ts";
import { fullKeyOf, type Place } from "../place.ts";
import { pyStr, pyTypeName } from "../python-text.ts";

/** A type as Python's annotations write it: `int`, `Optional[str]`, `Dict[str, List[int]]`. */
export function describeType(type: NodeType): string {
  const name = describeBareType(type);
  return type.kind !== "any" && type.optional === true ? `Optional[${name}]` : name;
}

/** A type without its `Optional`: the type of the values that are not null. */
export function describeBareType(type: NodeType): string {
  switch (type.kind) {
    case "any":
      return "Any";
    case "path":
      return "Path";
    case "enum":
    case "object":
      return type.name;
    case "union":
      return `Union[${type.members.map(describeType).join(", ")}]`;
    case "list":
      return `List[${describeType(type.element)}]`;
    case "map":
      return `Dict[${describeType(type.key)}, ${describeType(type.element)}]`;
    default:
      return type.kind;
  }
}

/** A type as Python shows it where it is a value: `<class 'int'>`, `typing.List[int]`. */
export function typeRepr(type: NodeType): string {
  switch (type.kind) {
    case "enum":
      return `<enum '${type.name}'>`;
    case "path":
      return "<class 'pathlib.Path'>";
    case "any":
    case "union":
    case "list":
    case "map":
      return bareParameterRepr(type);
    default:
      return `<class '${describeBareType(type)}'>`;
  }
}

/** A type as it is shown inside another one. */
function parameterRepr(type: NodeType): string {
  const name = bareParameterRepr(type);
  return type.kind !== "any" && type.optional === true ? `typing.Optional[${name}]` : name;
}

function bareParameterRepr(type: NodeType): string {
  switch (type.kind) {
    case "any":
      return "typing.Any";
    case "path":
      return "pathlib.Path";
    case "union":
      return `typing.Union[${type.members.map(parameterRepr).join(", ")}]`;
    case "list":
      return `typing.List[${parameterRepr(type.element)}]`;
    case "map":
      return `typing.Dict[${parameterRepr(type.key)}, ${parameterRepr(type.element)}]`;
    default:
      return describeBareType(type);
  }
}

/*
 * OmegaConf's messages for a refused value. They distinguish plain data (`list`, `bool`) from nodes of a config
 * (`ListConfig`, `AnyNode`).
 */

/** A value, scalar or container, has the wrong type. */
export const wrongType = (type: NodeType, node: ConfigNode, place: Place): ConfigError =>
  refusal(type, node, place, reason(type, node, place));

/** Null where the type is not optional: in a map, or as the replacement of a list item. */
export function notOptional(type: NodeType, node: ConfigNode, place: Place): ConfigError {
  const key = fullKeyOf(place);
  const isItem = place.parent?.node.kind === "list";
  const message = isItem
    ? `${key} is not optional and cannot be assigned None`
    : `field '${key}' is not Optional`;
  return refusal(type, node, place, message);
}

/** A value is not an object of the class. */
export const notOfClass = (type: NodeType, node: ConfigNode, place: Place): ConfigError =>
  refusal(type, node, place, noSubclass(type, node));

function refusal(type: NodeType, node: ConfigNode, place: Place, message: string): ConfigError {
  return new ConfigError({
    code: "value.wrong_type",
    message,
    key: fullKeyOf(place),
    origin: node.origin,
    ...(type.kind === "enum" && alternativesTo(pyStr(node), type.members)),
  });
}

/** The message for a value that is not an object of a class. */
function noSubclass(type: NodeType, node: ConfigNode): string {
  return `Invalid type assigned: ${className(node)} is not a subclass of ${describeBareType(type)}. value: ${pyStr(node)}`;
}

/** The name of a node's class, or of its plain Python type. */
function className(node: ConfigNode): string {
  if (node.kind === "scalar") return pyTypeName(node);
  if (node.kind === "list") return "list";
  return node.type?.kind === "object" ? node.type.name : "dict";
}

function reason(type: NodeType, node: ConfigNode, place: Place): string {
  if (node.kind === "scalar" && node.value === null) return reasonOfNull(type, node, place);
  const text = pyStr(node);
  const shown = `Value '${text}'`;
  const name = givenName(node, place);
  const found = `of type '${name}'`;
  switch (type.kind) {
    case "int":
      return `${shown} ${found} could not be converted to Integer`;
    case "float":
      return `${shown} ${found} could not be converted to Float`;
    case "path":
      return `${shown} ${found} could not be converted to Path`;
    case "bool":
      return `${shown} is not a valid bool (type ${name})`;
    case "str":
      return `Cannot convert '${name}' to string: '${text}'`;
    case "bytes":
      return `${shown} ${found} is not of type 'bytes'`;
    case "enum":
      return couldBeMember(node)
        ? `Invalid value '${text}', expected one of [${type.members.join(", ")}]`
        : `Value ${text} (${name}) is not a valid input for ${typeRepr(type)}`;
    case "list":
      return `Invalid value assigned: ${nodeName(node, place)} is not a ListConfig, list or tuple.`;
    case "map":
      return node.kind === "scalar" || node.type?.kind === "object"
        ? `Cannot assign ${className(node)} to ${describeBareType(type)}`
        : noSubclass(type, node);
    case "object":
      return noSubclass(type, node);
    case "union":
      return node.kind !== "scalar" && place.plain !== true
        ? `Cannot assign container '${text}' ${found} to ${describeType(type)}`
        : `${shown} ${found} is incompatible with type hint '${describeType(type)}'`;
    default:
      return `${shown} ${found} is incompatible with type hint '${describeType(type)}'`;
  }
}

function reasonOfNull(type: NodeType, node: ConfigNode, place: Place): string {
  if (isContainerType(type)) return notOptional(type, node, place).message;
  return type.kind === "union"
    ? `Value 'None' is incompatible with type hint '${describeType(type)}'`
    : `Incompatible value 'None' for field of type '${describeType(type)}'`;
}

/**
 * Whether a value has a type that enum members are written in: a name, or the member's number. A bool counts as a
 * number.
 */
const couldBeMember = (node: ConfigNode): boolean =>
  node.kind === "scalar" &&
  enumOf(node) === undefined &&
  (typeof node.value === "string" ||
    typeof node.value === "bigint" ||
    typeof node.value === "boolean");

/** The type of a value, with its module. Modules of enums are unknown. */
function givenName(node: ConfigNode, place: Place): string {
  const name = pyTypeName(node);
  if (name === "PosixPath") return `pathlib.${name}`;
  return node.kind !== "scalar" && place.plain === true ? className(node) : name;
}

const NODE_NAMES: { readonly [Kind in NodeType["kind"]]?: string } = {
  int: "IntegerNode",
  float: "FloatNode",
  bool: "BooleanNode",
  str: "StringNode",
  bytes: "BytesNode",
  path: "PathNode",
  enum: "EnumNode",
  union: "UnionNode",
};

/**
 * The class of a value in messages: its own for plain data and list items, otherwise that of OmegaConf's node around
 * it.
 */
function nodeName(node: ConfigNode, place: Place): string {
  const isItem = place.parent?.node.kind === "list" && node.kind === "scalar";
  if (place.plain === true || isItem) return className(node);
  return node.kind === "scalar"
    ? (NODE_NAMES[node.type?.kind ?? "any"] ?? "AnyNode")
    : pyTypeName(node);
}
