import type { ContainerNode, ContainerType, MapNode, ObjectType } from "../node.ts";
import { list, map, scalar } from "../node.ts";
import type { Origin } from "../origin.ts";

/** What stands where a map or list of a type is not there yet: an empty one, an object with the defaults of its class. */
export function madeOf(type: ContainerType, origin: Origin): ContainerNode {
  if (type.kind === "list") return { ...list([], origin), type };
  const defaults = type.kind === "object" ? type.defaults : undefined;
  return { ...map(defaults ?? [], origin), type };
}

/** An object of a class of which nothing has been given yet: what a missing one is merged as. */
export function unsetObject(type: ObjectType, origin: Origin): MapNode {
  const missing = { ...scalar("???", origin) };
  const fields = [...type.fields].map(([name, field]) => {
    const value = field.kind === "any" ? missing : { ...missing, type: field };
    return [name, value] as const;
  });
  return { ...map(fields, origin), type };
}
