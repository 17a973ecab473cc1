/** Infers a JSON Schema from examples of values. */
import { isInterpolationNode } from "../../../engine/values/interpolation/interpolation-parser.ts";
import {
  type ConfigNode,
  isMissingOrNull,
  type MapNode,
  type ScalarNode,
} from "../../../engine/values/node.ts";
import { toObject } from "../../../engine/values/plain-objects.ts";
import { keyText } from "../../../engine/values/python-text.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";

export interface InferredSchema {
  readonly [keyword: string]: unknown;
}

/** What the schema describes: files, in which any value may be an interpolation, or resolved data. */
export type Purpose = "files" | "data";

/** The definition of interpolations in a schema for files. */
export const INTERPOLATION_DEFINITION = {
  interpolation: { type: "string", pattern: "\\$\\{|^\\?\\?\\?$" },
} as const;

const MAX_EXAMPLES = 5;

/**
 * The JSON Schema that all example values of a place fit. In a file an int is an example of a number, since 1.5 may be valid
 * elsewhere; null and missing values give no type. Schemas for files allow further keys.
 */
export function inferSchema(examples: readonly ConfigNode[], purpose: Purpose): InferredSchema {
  // Compositions of one tree share most of their nodes.
  const closed = [...new Set(examples)].filter((node) => !isOpen(node));
  if (closed.length === 0) return {};
  const nullable = examples.some((node) => node.kind === "scalar" && node.value === null);
  const kinds = [
    ...scalarSchemas(
      closed.filter((node) => node.kind === "scalar"),
      purpose,
    ),
    ...collection(
      closed.filter((node) => node.kind === "map"),
      (maps) => mapSchema(maps, purpose),
    ),
    ...collection(
      closed.filter((node) => node.kind === "list"),
      (lists) => ({
        type: "array",
        items: inferSchema(
          lists.flatMap(({ items }) => items),
          purpose,
        ),
      }),
    ),
  ];
  const alternatives = [
    ...kinds,
    ...(nullable ? [{ type: "null" }] : []),
    ...(purpose === "files" && !kinds.some(({ type }) => type === "string")
      ? [{ $ref: "#/$defs/interpolation" }]
      : []),
  ];
  const [only] = alternatives;
  const schema = alternatives.length === 1 && only !== undefined ? only : { anyOf: alternatives };
  const shown = purpose === "files" ? examplesOf(closed) : [];
  return shown.length === 0 ? schema : { ...schema, examples: shown };
}

/** Whether a value says nothing about its type. */
const isOpen = (node: ConfigNode): boolean => isMissingOrNull(node) || isInterpolationNode(node);

const collection = <T>(
  nodes: readonly T[],
  schemaOf: (nodes: readonly T[]) => InferredSchema,
): readonly InferredSchema[] => (nodes.length === 0 ? [] : [schemaOf(nodes)]);

function scalarSchemas(nodes: readonly ScalarNode[], purpose: Purpose): readonly InferredSchema[] {
  const types = [...new Set(nodes.map(typeOf))];
  const isWhole = purpose === "data" && !types.includes("number");
  return [...new Set(types.map((type) => (type === "integer" && !isWhole ? "number" : type)))].map(
    (type) => ({ type }),
  );
}

function typeOf({ value }: ScalarNode): string {
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "bigint") return "integer";
  return typeof value === "number" ? "number" : "string";
}

function mapSchema(maps: readonly MapNode[], purpose: Purpose): InferredSchema {
  const examples = new Map<string, ConfigNode[]>();
  for (const { entries } of maps)
    for (const { key, value } of entries.values())
      getOrCreate(examples, keyText(key), () => []).push(value);
  const properties = Object.fromEntries(
    [...examples].map(([name, values]) => [name, inferSchema(values, purpose)]),
  );
  if (purpose === "files") return { type: "object", properties };
  const required = [...examples].flatMap(([name, { length }]) =>
    length === maps.length ? [name] : [],
  );
  return { type: "object", properties, required, additionalProperties: false };
}

/** Examples that an editor can suggest. */
function examplesOf(nodes: readonly ConfigNode[]): readonly unknown[] {
  const scalars = nodes.filter((node) => node.kind === "scalar");
  const values = new Map(
    scalars.map((node) => {
      const value = toObject(node);
      return [JSON.stringify(String(value)), typeof value === "bigint" ? Number(value) : value];
    }),
  );
  return [...values.values()]
    .filter((value) => typeof value !== "number" || Number.isFinite(value))
    .slice(0, MAX_EXAMPLES);
}
