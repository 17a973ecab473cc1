/** What OmegaConf refuses where plain data, or a document, becomes a config. */

import { ConfigError, isConfigError } from "../errors.ts";
import { placeSyntaxError } from "../interpolation/lexer.ts";
import {
  checkSyntax,
  createSharedTexts,
  type InterpolationNode,
  isInterpolationNode,
  parseNode,
  type SharedTexts,
} from "../interpolation/parser.ts";
import { type ConfigNode, checkDepth, child, type Key } from "../node.ts";
import { fullKeyOf, type Place, rootPlace } from "../place.ts";
import { keyText } from "../python-text.ts";
import { invalidKeyType } from "./construction.ts";
import type { Constructed } from "./reader.ts";

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
  checkDepth(path.length, node);
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

/** Checks the syntax of a string that contains `${`; throws a ConfigError. */
export type InterpolationCheck = (text: string) => void;

/**
 * What `OmegaConf.create` refuses in a document that PyYAML accepts, in document order: null keys,
 * values of Python types without a place in a config, broken interpolations. Without `check` only the
 * values are looked at.
 */
export function acceptConfig({ root, foreign }: Constructed, check?: InterpolationCheck): void {
  function visit(node: ConfigNode): void {
    const typeName = foreign.get(node);
    if (typeName !== undefined) throw unsupported(node, typeName, keyIn(root, node));
    if (node.kind === "scalar") {
      // A document that is one string becomes a key, which is not interpolated.
      if (node !== root && check !== undefined && isInterpolationNode(node)) checkNode(node, check);
    } else if (node.kind === "list") {
      for (const item of node.items) visit(item);
    } else {
      for (const { key, value } of node.entries.values()) {
        if (key === null && check !== undefined)
          throw invalidKeyType("NoneType", node.origin, keyIn(root, node));
        visit(value);
      }
    }
  }

  function checkNode(node: InterpolationNode, check: InterpolationCheck): void {
    try {
      check(node.value);
    } catch (error) {
      if (!isConfigError(error)) throw error;
      throw placeSyntaxError(error.askedFor(keyIn(root, node)), node.value, node.origin);
    }
  }

  visit(root);
}

/** The key of a node as messages name it. Looked for where something is refused: most documents never need one. */
function keyIn(root: ConfigNode, wanted: ConfigNode): string {
  function find(node: ConfigNode, key: string): string | undefined {
    if (node === wanted) return key;
    if (node.kind === "list") return firstOf(node.items, (item, at) => find(item, `${key}[${at}]`));
    if (node.kind === "map")
      return firstOf(node.entries.values(), (entry) => find(entry.value, joinKey(key, entry.key)));
    return undefined;
  }
  return find(root, "") ?? "";
}

function firstOf<T>(
  items: Iterable<T>,
  find: (item: T, index: number) => string | undefined,
): string | undefined {
  let index = 0;
  for (const item of items) {
    const found = find(item, index++);
    if (found !== undefined) return found;
  }
  return undefined;
}

const joinKey = (parent: string, key: Key): string =>
  parent === "" ? keyText(key) : `${parent}.${keyText(key)}`;

/** The refusal of a value of a Python type that has no place in a config. */
const unsupported = (node: ConfigNode, typeName: string, key: string): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `Value '${typeName}' is not a supported primitive type`,
    origin: node.origin,
    key,
  });
