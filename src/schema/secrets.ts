import type { ConfigNode } from "../values/node.ts";
import {
  type JsonSchema,
  member,
  type SchemaObject,
  schemasAtRoot,
  schemasBelow,
} from "./applicable-schemas.ts";
import { type JsonValue, keyText, toJson } from "./json-document.ts";

/** The keys from the root to a value that must not be shown. */
export type SecretPath = readonly string[];

/**
 * What a JSON Schema marks secret: `writeOnly: true` (a value that is given and never shown), or the
 * format `password`. Everything below a secret map or list is secret with it.
 */
export function secretPaths(tree: ConfigNode, schema: JsonSchema): readonly SecretPath[] {
  const found: SecretPath[] = [];
  const visit = (
    node: ConfigNode,
    parts: readonly SchemaObject[],
    value: JsonValue | undefined,
    path: SecretPath,
  ): void => {
    if (parts.some(marksSecret)) found.push(path);
    else
      for (const [name, child] of childrenOf(node)) {
        const below = member(value, name);
        const inner = schemasBelow(parts, name, schema, below);
        if (inner.length > 0) visit(child, inner, below, [...path, name]);
      }
  };
  const document = toJson(tree);
  visit(tree, schemasAtRoot(schema, document), document, []);
  return found;
}

/** Whether a value at these keys would be secret, in whatever tree. */
export function isSecretKey(path: readonly string[], schema: JsonSchema): boolean {
  let parts = schemasAtRoot(schema, undefined);
  if (parts.some(marksSecret)) return true;
  for (const name of path) {
    parts = schemasBelow(parts, name, schema, undefined);
    if (parts.some(marksSecret)) return true;
  }
  return false;
}

const marksSecret = (part: SchemaObject): boolean =>
  part["writeOnly"] === true || part["format"] === "password";

function childrenOf(node: ConfigNode): readonly (readonly [string, ConfigNode])[] {
  if (node.kind === "list") return node.items.map((item, index) => [String(index), item]);
  if (node.kind === "map")
    return [...node.entries.values()].map(({ key, value }) => [keyText(key), value]);
  return [];
}
