import { refuseDepth } from "./depth.ts";
import { ConfigError, isConfigError } from "./errors.ts";
import { checkSyntax } from "./interpolation/check-syntax.ts";
import type { SharedTexts } from "./interpolation/parse-node.ts";
import { createSharedTexts, isInterpolationNode, parseNode } from "./interpolation/parse-node.ts";
import type { ConfigNode, Key } from "./node.ts";
import { child } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf, rootPlace } from "./place.ts";
import { unsupported } from "./yaml/accept.ts";

/** Placeholders of values that only Python has, with the names of their types. */
export type ForeignTypes = ReadonlyMap<ConfigNode, string>;

/**
 * What OmegaConf checks when plain data becomes a configuration: keys of supported types and the
 * syntax of interpolations. Returns the tree.
 * @param at where the tree will stand, as the keys of errors name it
 * @param foreign nodes that stand for values of types without a place in a config: the type's name
 * @throws ConfigError `key.invalid_type`, `interpolation.syntax`, `yaml.depth_limit`, `value.wrong_type`
 */
export function checkTree(
  node: ConfigNode,
  at: Place = rootPlace(node),
  foreign?: ForeignTypes,
): ConfigNode {
  const path: Key[] = [];
  try {
    check(node, path, createSharedTexts(), foreign);
  } catch (error) {
    throw isConfigError(error) ? error.askedFor(fullKeyOf(descend(at, path))) : error;
  }
  return node;
}

/** @param path the keys that lead there, which stay where something is refused */
function check(
  node: ConfigNode,
  path: Key[],
  shared: SharedTexts,
  foreign: ForeignTypes | undefined,
): void {
  refuseDepth(path.length, node);
  const typeName = foreign?.get(node);
  if (typeName !== undefined) throw unsupported(node, typeName, "");
  if (node.kind === "scalar") {
    if (isInterpolationNode(node)) checkSyntax(node.value, () => parseNode(node, shared));
    return;
  }
  if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) {
      path.push(BigInt(index));
      check(item, path, shared, foreign);
      path.pop();
    }
    return;
  }
  for (const { key, value } of node.entries.values()) {
    if (key === null)
      throw new ConfigError({
        code: "key.invalid_type",
        message: "Incompatible key type 'NoneType'",
        origin: value.origin,
      });
    path.push(key);
    check(value, path, shared, foreign);
    path.pop();
  }
}

function descend(at: Place, path: readonly Key[]): Place {
  let place = at;
  for (const key of path) {
    const node = child(place.node, key);
    if (node === undefined) return place;
    place = { kind: "place", node, parent: place, key };
  }
  return place;
}
