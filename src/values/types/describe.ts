import type { NodeType } from "../node.ts";

/** A type as Python's annotations write it: `int`, `Optional[str]`, `Dict[str, List[int]]`. */
export function describeType(type: NodeType): string {
  const name = describeBareType(type);
  return type.kind !== "any" && type.optional === true ? `Optional[${name}]` : name;
}

/** A type that may be optional as if it were not: what a value has to be that is not null. */
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
