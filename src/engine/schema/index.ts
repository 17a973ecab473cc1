/**
 * Checks configuration trees against JSON Schema. Loads ajv, so programs that may not need it should import this module
 * on demand.
 * @module hydraconf/schema
 */
import type { ConfigNode } from "../values/node.ts";
import { createConfigAjv } from "./ajv.ts";
import { applicableSchemas, type JsonSchema } from "./applicable-schemas.ts";
import { describePlace } from "./describe.ts";
import { alternatives, demandOf } from "./expectations.ts";
import type { SchemaIssue } from "./issue.ts";
import { toJson } from "./json-document.ts";
import { treeIssues } from "./tree-issues.ts";

export type { JsonSchema } from "./applicable-schemas.ts";
export type { SchemaIssue } from "./issue.ts";
export { renderIssues } from "./issue.ts";
export { showValue } from "./show-value.ts";

/**
 * Checks a resolved tree against a JSON Schema (draft 2020-12, with `format`s and OpenAPI's `discriminator`) and
 * returns every problem at once, in document order. Missing mandatory values (`???`) are problems of their own kind. An
 * empty list means that the tree fits.
 * @throws ConfigError `schema.invalid` when the schema itself is invalid.
 */
export function validateTree(root: ConfigNode, schema: JsonSchema): readonly SchemaIssue[] {
  const ajv = createConfigAjv(schema);
  return treeIssues(root, schema, (part) => ajv.compile(part));
}

/** What a schema says about a key, in words. */
export interface KeyDescription {
  /** `an integer or null`; undefined where the schema leaves it open. */
  readonly type?: string;
  /** Every further demand: `at least 1`, `one of a, b`. */
  readonly allowed: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly examples: readonly string[];
  /** The keys below it that the schema names, with their descriptions. */
  readonly keys: readonly { readonly name: string; readonly description?: string }[];
}

/** Describes a key for people. @param root the tree, which selects between branches of the schema */
export function describeKey(
  schema: JsonSchema,
  path: readonly string[],
  root: ConfigNode,
): KeyDescription {
  const document = toJson(root);
  const parts = applicableSchemas(schema, path, document);
  const { description, examples, properties } = describePlace(schema, path, document);
  const types = distinct(parts.map((part) => demand("type", part["type"])));
  const byDefault = parts.find((part) => "default" in part);
  return {
    ...(types.length !== 0 && { type: alternatives(types) }),
    allowed: distinct(
      parts.flatMap((part) =>
        Object.entries(part)
          .filter(([keyword]) => keyword !== "type")
          .map(([keyword, value]) => demand(keyword, value)),
      ),
    ),
    ...(byDefault !== undefined && { default: byDefault["default"] }),
    ...(description !== undefined && { description }),
    examples,
    keys: properties.map((name) => {
      const below = describePlace(schema, [...path, name], document);
      return {
        name,
        ...(below.description !== undefined && { description: below.description }),
      };
    }),
  };
}

const demand = (keyword: string, value: unknown): string | undefined =>
  value === undefined ? undefined : demandOf(keyword, value);

const distinct = (texts: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(texts.filter((text) => text !== undefined)),
];
