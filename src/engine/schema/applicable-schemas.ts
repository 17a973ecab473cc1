/** The parts of a JSON Schema that apply to one place of a document. */
import type { LoadedSchema, StandardSchema } from "../values/config-schema.ts";
import type { JsonValue } from "./json-document.ts";

/** A JSON Schema (draft 2020-12): an object of keywords, or `true`/`false`. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

export interface SchemaObject {
  readonly [keyword: string]: unknown;
}

/** The validator interface of https://standardschema.dev, and its JSON Schema where the library gives one. */
export type StandardValidator = StandardSchema;

export const isStandardValidator = (
  schema: LoadedSchema | StandardValidator,
): schema is StandardValidator =>
  (typeof schema === "object" || typeof schema === "function") && "~standard" in schema;

/**
 * The JSON Schema of what a validator accepts, for help, completion and secrets. Undefined if its library gives none,
 * or none for this validator: checks of code have no JSON Schema.
 */
export function jsonSchemaOf(schema: LoadedSchema | StandardValidator): JsonSchema | undefined {
  if (!isStandardValidator(schema)) return schema as JsonSchema;
  try {
    return schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  } catch {
    return undefined;
  }
}

/**
 * Every subschema that applies to a place (references, `allOf`, branches), the nearest first; of branches with a
 * discriminator, only the one that the document selects counts.
 */
export function applicableSchemas(
  schema: JsonSchema,
  tokens: readonly string[],
  document: JsonValue,
): readonly SchemaObject[] {
  let value: JsonValue | undefined = document;
  let applicable = schemasAtRoot(schema, value);
  for (const token of tokens) {
    value = member(value, token);
    applicable = schemasBelow(applicable, token, schema, value);
  }
  return applicable;
}

/** The subschemas that apply to the document itself. */
export const schemasAtRoot = (
  schema: JsonSchema,
  document: JsonValue | undefined,
): readonly SchemaObject[] => expand(schema, schema, document);

/**
 * The subschemas that apply to a key, given those that apply to its parent.
 * @param value the value at the key, as far as it is known
 */
export const schemasBelow = (
  parts: readonly SchemaObject[],
  token: string,
  root: JsonSchema,
  value: JsonValue | undefined,
): readonly SchemaObject[] => {
  const evaluating = parts.flatMap((part) => childSchemas(part, token));
  // `unevaluated…` applies only to keys that no other subschema evaluates.
  const found =
    evaluating.length > 0 ? evaluating : parts.flatMap((part) => unevaluated(part, token));
  return found.flatMap((part) => expand(part, root, value));
};

/** A schema and all subschemas that it applies to the same place. */
const expand = (
  schema: unknown,
  root: JsonSchema,
  value: JsonValue | undefined,
): readonly SchemaObject[] =>
  appliedSchemas(schema, root, (object) => [
    ...chosenBranches(object, root, value),
    object["then"],
    object["else"],
  ]);

/** A schema and those that it always applies to the same place: references and `allOf`, and no branches. */
export const certainSchemas = (schema: unknown, root: JsonSchema): readonly SchemaObject[] =>
  appliedSchemas(schema, root, () => []);

function appliedSchemas(
  schema: unknown,
  root: JsonSchema,
  branchesOf: (object: SchemaObject) => readonly unknown[],
  seen: ReadonlySet<unknown> = new Set(),
): readonly SchemaObject[] {
  const object = objectOf(schema);
  if (object === undefined || seen.has(object)) return [];
  const visited = new Set(seen).add(object);
  const inner: readonly unknown[] = [
    ...(isText(object["$ref"]) ? [dereference(root, object["$ref"])] : []),
    ...(listOf(object["allOf"]) ?? []),
    ...branchesOf(object),
  ];
  return [object, ...inner.flatMap((part) => appliedSchemas(part, root, branchesOf, visited))];
}

function chosenBranches(
  object: SchemaObject,
  root: JsonSchema,
  value: JsonValue | undefined,
): readonly unknown[] {
  const branches = [...(listOf(object["anyOf"]) ?? []), ...(listOf(object["oneOf"]) ?? [])];
  const tagName = objectOf(object["discriminator"])?.["propertyName"];
  if (!isText(tagName)) return branches;
  const tag = member(value, tagName);
  const chosen = branches.filter((branch) =>
    discriminatorTags(branch, tagName, root).includes(tag),
  );
  return chosen.length > 0 ? chosen : branches;
}

/** The values of a discriminator that select one branch. */
export function discriminatorTags(
  branch: unknown,
  tagName: string,
  root: JsonSchema,
): readonly unknown[] {
  const object = objectOf(branch);
  const target = isText(object?.["$ref"]) ? objectOf(dereference(root, object["$ref"])) : object;
  const tag = objectOf(objectOf(target?.["properties"])?.[tagName]);
  return tag === undefined
    ? []
    : [...("const" in tag ? [tag["const"]] : []), ...(listOf(tag["enum"]) ?? [])];
}

/**
 * A number may be an index of a list or a key of a mapping; the document would decide that, but is not consulted here.
 */
function childSchemas(schema: SchemaObject, token: string): readonly unknown[] {
  const named = namedSchemas(schema, token);
  const item = isPlace(token)
    ? (listOf(schema["prefixItems"])?.[Number(token)] ?? schema["items"])
    : undefined;
  return [...(named.length > 0 ? named : [schema["additionalProperties"]]), item].filter(
    (part) => part !== undefined,
  );
}

/** The schemas of the property with this name, and of all patterns that match it. */
function namedSchemas(schema: SchemaObject, token: string): readonly unknown[] {
  const properties = objectOf(schema["properties"]);
  return [
    ...(properties !== undefined && Object.hasOwn(properties, token) ? [properties[token]] : []),
    ...Object.entries(objectOf(schema["patternProperties"]) ?? {}).flatMap(([pattern, part]) =>
      fits(pattern, token) ? [part] : [],
    ),
  ];
}

/** A pattern that is no regular expression matches nothing here, because ajv refuses its schema. */
function fits(pattern: string, token: string): boolean {
  try {
    return new RegExp(pattern, "u").test(token);
  } catch {
    return false;
  }
}

const unevaluated = (schema: SchemaObject, token: string): readonly unknown[] => [
  schema["unevaluatedProperties"],
  ...(isPlace(token) ? [schema["unevaluatedItems"]] : []),
];

const isPlace = (token: string): boolean => /^\d+$/.test(token);

/** Follows a reference within the document (`#/$defs/name`); others are not supported here. */
function dereference(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#/")) return reference === "#" ? root : undefined;
  return reference
    .slice(2)
    .split("/")
    .map((token) => decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, token) => objectOf(value)?.[token], root);
}

/** The value at a key that is an object's or list's own property. */
export function member(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const property = Object.getOwnPropertyDescriptor(value, token);
  return property?.enumerable === true ? property.value : undefined;
}

export const isText = (value: unknown): value is string => typeof value === "string";
export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] | undefined =>
  isList(value) ? value : undefined;

export function objectOf(value: unknown): SchemaObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as SchemaObject)
    : undefined;
}

/**
 * Where a schema allows no key of this name: the path of the mapping that allows other keys only. Undefined where a key
 * may be added. Without the document, all branches count.
 */
export function closedAt(
  schema: JsonSchema,
  path: readonly string[],
): readonly string[] | undefined {
  const depth = path.findIndex((token, index) => {
    const parts = applicableSchemas(schema, path.slice(0, index), {});
    return parts.some(isClosed) && !parts.some((part) => namedSchemas(part, token).length > 0);
  });
  return depth < 0 ? undefined : path.slice(0, depth);
}

const isClosed = (part: SchemaObject): boolean =>
  part["additionalProperties"] === false || part["unevaluatedProperties"] === false;

/** Whether a schema declares types or values for these keys, of which none is null. Without the document, all branches count. */
export function refusesNull(schema: JsonSchema, path: readonly string[]): boolean {
  const declared = applicableSchemas(schema, path, {}).flatMap((part) => [
    ...(isList(part["type"]) ? part["type"] : [part["type"]]),
    ...(listOf(part["enum"]) ?? []),
    part["const"],
  ]);
  return (
    !declared.includes("null") &&
    declared.some((each) => each !== undefined) &&
    !declared.includes(null)
  );
}
