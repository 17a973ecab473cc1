/** What a target gets in place of a config: frozen data that knows the node that it was made from. */
import { isBytes, isPlainObject } from "../../foundation/system/builtin-types.ts";
import { ConfigError } from "../values/errors.ts";
import {
  type ConfigNode,
  isNode,
  list,
  MAX_TREE_DEPTH,
  map,
  type ScalarNode,
  withEntry,
} from "../values/node.ts";
import type { Origin } from "../values/origin.ts";
import { fromObject, recordOf, toObject } from "../values/plain-objects.ts";
import { isDeclared } from "./target.ts";

/** The property of a read-only container that holds the config it was made from. */
const NODE = Symbol("hydraconf.config");

/**
 * Freezes a new array or object that represents a part of a config, where Hydra passes a `DictConfig` or `ListConfig`.
 * It keeps that config, unless something in it has been instantiated.
 */
export function asView<Container extends object>(
  container: Container,
  node: ConfigNode,
): Container {
  return showing(container, node, isAllConfig(node));
}

/** As `asView`, for a part in which nothing is instantiated, so that its targets stay config, too. */
export function asUntouchedView<Container extends object>(
  container: Container,
  node: ConfigNode,
): Container {
  return showing(container, node, isAllConfig(node, true));
}

/** A part of a config without unresolved interpolations, as it is passed to a target. */
export function untouchedView(node: ConfigNode): unknown {
  if (node.kind === "scalar") return isForeign(node) ? node.foreign : toObject(node);
  if (node.kind === "list") return asUntouchedView(node.items.map(untouchedView), node);
  const entries = [...node.entries.values()].map(
    ({ key, value }) => [key, untouchedView(value)] as const,
  );
  return asUntouchedView(recordOf(entries), node);
}

/** As `asUntouchedView`, for a container whose values are resolved when they are read. */
export function asLazyView<Container extends object>(
  container: Container,
  node: ConfigNode,
): Container {
  if (isAllConfig(node, true)) Object.defineProperty(container, NODE, { value: node });
  return Object.preventExtensions(container);
}

function showing<Container extends object>(
  container: Container,
  node: ConfigNode,
  isAll: boolean,
): Container {
  if (isAll) Object.defineProperty(container, NODE, { value: node });
  return Object.freeze(container);
}

function isAllConfig(node: ConfigNode, withTargets = false): boolean {
  if (node.kind === "scalar") return !("foreign" in node);
  if (node.kind === "list") return node.items.every((item) => isAllConfig(item, withTargets));
  if (!withTargets && node.entries.has("_target_")) return false;
  return [...node.entries.values()].every(({ value }) => isAllConfig(value, withTargets));
}

/**
 * The config that a value was made from, with exact types and origins: a node itself, or a map or list that a target
 * got with `_convert_: none`. Undefined for other values.
 */
export function nodeOf(value: unknown): ConfigNode | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const node = (value as { readonly [NODE]?: ConfigNode })[NODE];
  if (node !== undefined) return node;
  return isNode(value) ? value : undefined;
}

/**
 * An object of the program in a tree, as OmegaConf allows with `allow_objects`. The tree treats it as null, so that
 * nothing interpolates or converts it.
 */
export interface ForeignNode extends ScalarNode {
  readonly foreign: unknown;
}

export const isForeign = (node: ConfigNode): node is ForeignNode => "foreign" in node;

/** The tree with an object of the program in the place of a value. */
export function withForeign(
  root: ConfigNode,
  path: readonly string[],
  foreign: unknown,
): ConfigNode {
  const [key, ...rest] = path;
  if (key === undefined) {
    const node: ForeignNode = { kind: "scalar", value: null, origin: root.origin, foreign };
    return node;
  }
  if (root.kind === "list") {
    const items = root.items.map((item, index) =>
      String(index) === key ? withForeign(item, rest, foreign) : item,
    );
    return { ...root, items };
  }
  const entry = root.kind === "map" ? root.entries.get(key) : undefined;
  return root.kind !== "map" || entry === undefined
    ? root
    : withEntry(root, key, withForeign(entry.value, rest, foreign));
}

/**
 * A tree of plain data with objects in it: arrays, maps and plain objects become maps and lists, views are replaced by
 * their config, and all other objects become foreign nodes. Properties that are undefined are omitted.
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
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return map(
      entries.map(([key, item]) => [key, convert(item, origin, depth + 1)]),
      origin,
    );
  }
  if (isPrimitive(value)) return fromObject(value, origin);
  const node: ForeignNode = { kind: "scalar", value: null, origin, foreign: value };
  return node;
}

/** Symbols are not data. */
const isPrimitive = (value: unknown): boolean =>
  value === null ||
  isBytes(value) ||
  ["undefined", "boolean", "number", "bigint", "string"].includes(typeof value);

const isNamespace = (value: object): boolean =>
  Object.getPrototypeOf(value) === null && Symbol.toStringTag in value;

/** Plain data, recognised by its prototype; a module namespace is not plain data. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || isDeclared(value)) return false;
  return isPlainObject(value) && !isNamespace(value);
}
