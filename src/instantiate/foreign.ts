import { ConfigError } from "../values/errors.ts";
import { fromObject } from "../values/from-object.ts";
import type { ConfigNode, ScalarNode } from "../values/node.ts";
import { list, MAX_TREE_DEPTH, map } from "../values/node.ts";
import type { Origin } from "../values/origin.ts";
import { isDeclared } from "./target.ts";
import { nodeOf } from "./view.ts";

/**
 * An object of the program's that stands in a tree, as OmegaConf's `allow_objects` lets it: for
 * the tree it is a null, which nothing interpolates or converts.
 */
export interface ForeignNode extends ScalarNode {
  readonly foreign: unknown;
}

export const isForeign = (node: ConfigNode): node is ForeignNode => "foreign" in node;

/**
 * A tree of plain data with objects in it: arrays, maps and plain objects become maps and lists,
 * what has been made from a config stands for it, and anything that is no plain data is foreign.
 * Properties that are undefined are left out.
 */
export const toTree = (value: unknown, origin: Origin): ConfigNode => convert(value, origin, 0);

function convert(value: unknown, origin: Origin, depth: number): ConfigNode {
  if (depth > MAX_TREE_DEPTH)
    throw new ConfigError({
      code: "instantiate.invalid",
      message: "The data contains itself, or is nested too deeply",
      origin,
    });
  const shown = nodeOf(value);
  if (shown !== undefined) return shown;
  if (Array.isArray(value))
    return list(
      value.map((item) => convert(item, origin, depth + 1)),
      origin,
    );
  if (isRecord(value)) {
    const known = Object.entries(value).filter(([, item]) => item !== undefined);
    return map(
      known.map(([key, item]) => [key, convert(item, origin, depth + 1)]),
      origin,
    );
  }
  if (isPrimitive(value)) return fromObject(value, origin);
  const node: ForeignNode = { kind: "scalar", value: null, origin, foreign: value };
  return node;
}

/** Symbols are no data. */
const isPrimitive = (value: unknown): boolean =>
  value === null ||
  value instanceof Uint8Array ||
  ["undefined", "boolean", "number", "bigint", "string"].includes(typeof value);

/** Plain data by its prototype; what a module exports is an object of the program's. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || isDeclared(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || (prototype === null && !(Symbol.toStringTag in value));
}
