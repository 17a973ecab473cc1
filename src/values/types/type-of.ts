import type { ConfigNode, ContainerType, EnumType, Key, MapNode, NodeType } from "../node.ts";

/** The declared type of what stands, or may stand, at a key of a map or list; absent when any. */
export function elementType(parent: ConfigNode, key: Key): NodeType | undefined {
  const { type } = parent;
  if (type?.kind === "list" || type?.kind === "map") return declared(type.element);
  if (type?.kind === "object" && typeof key === "string") return declared(type.fields.get(key));
  return undefined;
}

/** Whether a map is an object of a declared class, with a fixed set of keys. */
export const isObject = (node: ConfigNode): node is MapNode => node.type?.kind === "object";

/** The enum that a scalar is a member of; its value is then the member's name. */
export function enumOf(node: ConfigNode): EnumType | undefined {
  if (node.kind !== "scalar" || node.type === undefined) return undefined;
  const type = node.type.kind === "union" ? node.type.held : node.type;
  if (type?.kind !== "enum" || typeof node.value !== "string") return undefined;
  return type.members.includes(node.value) ? type : undefined;
}

export const isContainerType = (type: NodeType | undefined): type is ContainerType =>
  type?.kind === "map" || type?.kind === "list" || type?.kind === "object";

const declared = (type: NodeType | undefined): NodeType | undefined =>
  type?.kind === "any" ? undefined : type;
