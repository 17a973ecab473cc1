import type {
  ConfigNode,
  ContainerType,
  MapNode,
  NodeType,
  ScalarValue,
} from "../../values/node.ts";
import { list, MISSING, map, scalar } from "../../values/node.ts";
import type { SchemaOrigin } from "../../values/origin.ts";
import { madeOf } from "../../values/types/made-of.ts";

/*
 * A small vocabulary for structured configs: a field is its type and its default, and an object is
 * a field made of fields. `hydra/schema.ts` reads like the declaration it stands for.
 */

export interface Field {
  readonly type: NodeType;
  readonly node: ConfigNode;
}

const ORIGIN: SchemaOrigin = { kind: "schema", schema: "hydra" };

export const ANY: NodeType = { kind: "any" };
export const STR: NodeType = { kind: "str" };
export const INT: NodeType = { kind: "int" };
export const FLOAT: NodeType = { kind: "float" };
export const BOOL: NodeType = { kind: "bool" };

export const listOf = (element: NodeType): NodeType => ({ kind: "list", element });
export const mapOf = (element: NodeType): NodeType => ({ kind: "map", key: STR, element });

export const optional = (type: NodeType): NodeType =>
  type.kind === "any" ? type : { ...type, optional: true };

/** A field of a type; without a default it is mandatory (`???`). */
export const field = (type: NodeType, value: ScalarValue = MISSING): Field => ({
  type,
  node: { ...scalar(value, ORIGIN), type },
});

export function emptyList(element: NodeType): Field {
  const type = listOf(element);
  return { type, node: { ...list([], ORIGIN), type } };
}

export function emptyMap(element: NodeType): Field {
  const type = mapOf(element);
  return { type, node: { ...map([], ORIGIN), type } };
}

/**
 * @param bases names of the types that this one extends.
 * @param latent fields that a config may set and that are not there before: what we add to Hydra's
 * own types, whose dumps must stay the same
 */
export function object(
  name: string,
  fields: Readonly<Record<string, Field>>,
  bases: readonly string[] = [],
  latent: Readonly<Record<string, NodeType>> = {},
): Field {
  const entries = Object.entries(fields);
  const type: ContainerType = {
    kind: "object",
    name,
    ...(bases.length > 0 && { bases }),
    fields: new Map([
      ...entries.map(([key, { type: fieldType }]) => [key, fieldType] as const),
      ...Object.entries(latent),
    ]),
    defaults: new Map(entries.map(([key, { node }]) => [key, node])),
  };
  return { type, node: madeOf(type, ORIGIN) };
}

/**
 * A defaults list of `group: option` items, in front of an object's fields. The list is a field as
 * well, until all configs are merged: a config may write over it, which changes nothing.
 */
export function withDefaults(
  { type, node }: Field,
  defaults: Readonly<Record<string, string | null>>,
): ConfigNode {
  if (type.kind !== "object" || node.kind !== "map") throw new TypeError("not an object");
  const items = Object.entries(defaults).map(([group, option]) =>
    map([[group, scalar(option, ORIGIN)]], ORIGIN),
  );
  const field = listOf(ANY);
  const fields = [...node.entries.values()].map(({ key, value }) => [key, value] as const);
  return {
    ...map([["defaults", { ...list(items, ORIGIN), type: field }], ...fields], ORIGIN),
    type: { ...type, fields: new Map([["defaults", field], ...type.fields]) },
  };
}

/** Such an object once all configs are merged: without the list, and without a field for it. */
export function withoutDefaultsField(node: MapNode): MapNode {
  const { type } = node;
  if (type?.kind !== "object") return node;
  const entries = new Map(node.entries);
  const fields = new Map(type.fields);
  entries.delete("defaults");
  fields.delete("defaults");
  return { ...node, entries, type: { ...type, fields } };
}
