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
