import { refuseDepth } from "./depth.ts";
import { aboutKey, ConfigError, isConfigError } from "./errors.ts";
import { checkSyntax } from "./interpolation/check-syntax.ts";
import type { SharedTexts } from "./interpolation/parse-node.ts";
import { createSharedTexts, parseNode } from "./interpolation/parse-node.ts";
import { isInterpolationNode } from "./interpolation/resolution.ts";
import type { ConfigNode, Key } from "./node.ts";
import { child } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf, rootPlace } from "./place.ts";

/**
 * What OmegaConf checks when plain data becomes a configuration: keys of supported types and the
 * syntax of interpolations. Returns the tree.
 * @param at where the tree will stand, as the keys of errors name it
 * @throws ConfigError `key.invalid_type`, `interpolation.syntax`, `yaml.depth_limit`
 */
export function checkTree(node: ConfigNode, at: Place = rootPlace(node)): ConfigNode {
  const path: Key[] = [];
  try {
    check(node, path, createSharedTexts());
  } catch (error) {
    throw isConfigError(error) ? aboutKey(error, fullKeyOf(descend(at, path))) : error;
  }
  return node;
}

/** @param path the keys that lead there, which stay where something is refused */
function check(node: ConfigNode, path: Key[], shared: SharedTexts): void {
  refuseDepth(path.length, node);
  if (node.kind === "scalar") {
    if (isInterpolationNode(node)) checkSyntax(node.value, () => parseNode(node, shared));
    return;
  }
  if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) {
      path.push(BigInt(index));
      check(item, path, shared);
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
    check(value, path, shared);
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
