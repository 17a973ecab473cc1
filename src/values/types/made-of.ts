import type { ContainerNode, ContainerType } from "../node.ts";
import { list, map } from "../node.ts";
import type { Origin } from "../origin.ts";

/** What stands where a map or list of a type is not there yet: an empty one, an object with the defaults of its class. */
export function madeOf(type: ContainerType, origin: Origin): ContainerNode {
  if (type.kind === "list") return { ...list([], origin), type };
  const defaults = type.kind === "object" ? type.defaults : undefined;
  return { ...map(defaults ?? [], origin), type };
}
