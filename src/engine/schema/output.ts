/** What a schema makes of a config: its defaults where nothing was said, and the conversions of a validator, as nodes. */
import { isBytes, isPlainObject } from "../../foundation/system/builtin-types.ts";
import { ConfigError } from "../values/errors.ts";
import { type ConfigNode, type MapNode, map, scalar, withEntry } from "../values/node.ts";
import type { Origin, SchemaOrigin } from "../values/origin.ts";
import { fromObject } from "../values/plain-objects.ts";
import {
  certainSchemas,
  isList,
  type JsonSchema,
  objectOf,
  type SchemaObject,
} from "./applicable-schemas.ts";
import { keyText } from "./json-document.ts";
import { showValue } from "./show-value.ts";

/**
 * The tree with the defaults of a JSON Schema for the keys that it lacks: those of `properties`, `items`, `$ref` and `allOf`. Whether a
 * branch of `anyOf` applies is not known before all of it is there, so its defaults are left out.
 *
 * @throws ConfigError `schema.invalid` for a default in which the same default is due again
 */
export function withDefaults(tree: ConfigNode, schema: JsonSchema, name: string): ConfigNode {
  const origin: SchemaOrigin = { kind: "schema", schema: name, isDefault: true };
  /** @param filling the schemas of the defaults that the node is part of, the outermost first */
  const visit = (
    node: ConfigNode,
    parts: readonly SchemaObject[],
    path: readonly string[],
    filling: readonly (readonly SchemaObject[])[],
  ): ConfigNode => {
    const partsOf = (schemas: readonly unknown[]) => [
      ...new Set(schemas.flatMap((part) => certainSchemas(part, schema))),
    ];
    if (parts.length === 0 || node.kind === "scalar") return node;
    if (node.kind === "list") {
      const itemsOf = (index: number) =>
        partsOf(
          parts.map(({ items, prefixItems }) =>
            isList(prefixItems) && index in prefixItems ? prefixItems[index] : items,
          ),
        );
      const items = node.items.map((item, index) =>
        visit(item, itemsOf(index), [...path, String(index)], filling),
      );
      return items.every((item, index) => item === node.items[index]) ? node : { ...node, items };
    }
    let filled: MapNode = node;
    for (const key of new Set(
      parts.flatMap(({ properties }) => Object.keys(objectOf(properties) ?? {})),
    )) {
      const below = partsOf(parts.map(({ properties }) => objectOf(properties)?.[key]));
      const existing = valueIn(node, key);
      const inside = [...path, key];
      const byDefault = below.find((part) => "default" in part);
      if (existing === undefined && filling.some((outer) => isSameList(outer, below)))
        throw endlessDefault(inside, name);
      const value = existing ?? (byDefault && fromObject(byDefault["default"], origin));
      const further = existing === undefined ? [...filling, below] : filling;
      const after = value && visit(value, below, inside, further);
      if (after !== undefined && after !== existing) filled = withEntry(filled, key, after);
    }
    return filled;
  };
  return visit(tree, certainSchemas(schema, schema), [], []);
}

const isSameList = <Item>(a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

const endlessDefault = (path: readonly string[], name: string): ConfigError =>
  new ConfigError({
    code: "schema.invalid",
    message: `The defaults of ${name === "" ? "the schema" : `the schema of '${name}'`} have no end: '${path.join(".")}' stands in a default of its own`,
    key: path.join("."),
    hint: "remove the `default` of that property, or let it contain the property itself, with the value where the nesting ends",
  });

const valueIn = ({ entries }: MapNode, key: string): ConfigNode | undefined =>
  (entries.get(key) ?? [...entries.values()].find((entry) => keyText(entry.key) === key))?.value;

/** A tree, and the values in it that no node can hold. */
export interface Output {
  readonly tree: ConfigNode;
  /** Dates, and objects of classes, by the JSON text of their keys from the root of the tree. */
  readonly objects: ReadonlyMap<string, unknown>;
}

/**
 * The tree with what a validator made of its data. Values that it left as they were keep their nodes, interpolations included, and so do
 * keys that it dropped: what is written elsewhere may refer to them.
 * @param written the tree as it is, whose interpolations `input` has resolved
 * @param input the data that the validator was given
 * @param output the data that it returned
 */
export function withOutput(
  written: ConfigNode,
  input: unknown,
  output: unknown,
  name: string,
): Output {
  const objects = new Map<string, unknown>();
  const visit = (
    node: ConfigNode | undefined,
    old: unknown,
    value: unknown,
    path: readonly string[],
  ): ConfigNode | undefined => {
    if (Object.is(old, value)) return node;
    if (node?.kind === "map" && isRecord(old) && isRecord(value)) {
      let changed: MapNode = node;
      for (const [key, item] of Object.entries(value)) {
        const existing = valueIn(node, key);
        const inside = visit(existing, ownValue(old, key), item, [...path, key]);
        if (inside !== undefined && inside !== existing) changed = withEntry(changed, key, inside);
      }
      return changed;
    }
    if (isList(old) && isList(value) && node?.kind === "list" && old.length === value.length) {
      const items = node.items.map(
        (item, index) => visit(item, old[index], value[index], [...path, String(index)]) ?? item,
      );
      return items.every((item, index) => item === node.items[index]) ? node : { ...node, items };
    }
    if (value === undefined && node === undefined) return undefined;
    if (isSame(old, value)) return node;
    const origin: SchemaOrigin =
      node === undefined
        ? { kind: "schema", schema: name, isDefault: true }
        : {
            kind: "schema",
            schema: name,
            converted: { text: showValue(node), origin: node.origin },
          };
    const made = nodeOf(value, origin, path);
    return node === undefined ? made : { ...made, replaced: node };
  };
  const nodeOf = (value: unknown, origin: Origin, path: readonly string[]): ConfigNode => {
    if (isList(value)) {
      const items = value.map((item, index) => nodeOf(item, origin, [...path, String(index)]));
      return { kind: "list", items, origin };
    }
    if (isRecord(value))
      return map(
        Object.entries(value)
          .filter(([, item]) => item !== undefined)
          .map(([key, item]) => [key, nodeOf(item, origin, [...path, key])]),
        origin,
      );
    if (isScalar(value)) return fromObject(value, origin);
    objects.set(JSON.stringify(path), value);
    return scalar(textOf(value), origin);
  };
  return { tree: visit(written, input, output, []) ?? written, objects };
}

const isScalar = (value: unknown): boolean =>
  value === null ||
  ["boolean", "number", "bigint", "string"].includes(typeof value) ||
  isBytes(value);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !isList(value) && isPlainObject(value);

const ownValue = (record: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** Whether two values are the same data. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (isBytes(a) && isBytes(b))
    return a.length === b.length && a.every((byte, index) => byte === b[index]);
  if (!isRecord(a) || !isRecord(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}

/** How a value that no node can hold is shown; null where it has no text of its own. */
function textOf(value: unknown): string | null {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return null;
  try {
    const text =
      Object.prototype.toString.call(value) === "[object Date]"
        ? (value as Date).toISOString()
        : String(value);
    return /^\[object .*\]$/.test(text) ? null : text;
  } catch {
    return null;
  }
}
