import type { ConfigNode } from "../values/node.ts";
import { childSchemas, expand, type JsonSchema, type SchemaObject } from "./describe.ts";
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
        const inner = parts
          .flatMap((part) => childSchemas(part, name))
          .flatMap((part) => expand(part, schema, below));
        if (inner.length > 0) visit(child, inner, below, [...path, name]);
      }
  };
  const document = toJson(tree);
  visit(tree, expand(schema, schema, document), document, []);
  return found;
}

/** Whether a value at these keys would be secret, in whatever tree. */
export function isSecretKey(path: readonly string[], schema: JsonSchema): boolean {
  let parts = expand(schema, schema, undefined);
  if (parts.some(marksSecret)) return true;
  for (const name of path) {
    parts = parts
      .flatMap((part) => childSchemas(part, name))
      .flatMap((part) => expand(part, schema, undefined));
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

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, JsonValue>>)[name];
}
