import { ConfigError, isConfigError } from "../errors.ts";
import { type InterpolationNode, isInterpolationNode } from "../interpolation/parse-node.ts";
import { placeSyntaxError } from "../interpolation/syntax-error.ts";
import type { ConfigNode, Key } from "../node.ts";
import { keyText } from "../python-text.ts";
import type { Constructed } from "./construct.ts";
import { invalidKeyType } from "./fill-mapping.ts";

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
      // A document that is one string becomes a key, which nobody interpolates.
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
export const unsupported = (node: ConfigNode, typeName: string, key: string): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `Value '${typeName}' is not a supported primitive type`,
    origin: node.origin,
    key,
  });
