import type { ConfigNode } from "../values/node.ts";
import { applicableSchemas, type JsonSchema } from "./applicable-schemas.ts";
import { describePlace } from "./describe.ts";
import { alternatives, demandOf } from "./expectations.ts";
import { toJson } from "./json-document.ts";

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

/** Describes a key for people. @param root the tree, which decides between branches of the schema */
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
