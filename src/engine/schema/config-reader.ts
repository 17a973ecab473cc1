/** Checks composed trees against the schemas and validators of a program. */
import type { ValidateFunction } from "ajv";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { ConfigSchema } from "../values/config-schema.ts";
import { ConfigError, nearest } from "../values/errors.ts";
import type { ConfigNode } from "../values/node.ts";
import { toObject } from "../values/plain-objects.ts";
import {
  applicableSchemas,
  isList,
  isStandardValidator,
  isText,
  type JsonSchema,
  jsonSchemaOf,
  member,
  objectOf,
  refusesNull,
  type SchemaObject,
  type StandardValidator,
  schemasAtRoot,
  schemasBelow,
} from "./applicable-schemas.ts";
import type { AjvFactory, AjvOptions } from "./given-ajv.ts";
import type { SchemaIssue } from "./issue.ts";
import {
  type JsonValue,
  joinKey,
  keyText,
  nodeAt,
  originOf,
  pointerTo,
  pointerTokens,
  toJson,
} from "./json-document.ts";
import { type Output, withDefaults, withOutput } from "./output.ts";
import { type CompileSchema, missingValues, treeIssues } from "./tree-issues.ts";

/** A JSON Schema, the path of a file with one, or a validator. */
export type GivenSchema = ConfigSchema | StandardValidator;

/** Checks trees against JSON Schemas and validators of the standard-schema interface. */
export interface ConfigReader {
  problems(schema: GivenSchema, tree: ConfigNode): readonly SchemaIssue[];
  /** The values that a JSON Schema marks secret, or the one that a validator's library gives. */
  secrets(schema: GivenSchema, tree: ConfigNode): readonly SecretPath[];
  /** Whether a value at these keys would be secret; with `similar`, also if it was probably meant for a key whose value is. */
  isSecret(schema: GivenSchema, path: readonly string[], spelling: "exact" | "similar"): boolean;
  /** Whether no value at these keys can be null. */
  refusesNull(schema: GivenSchema, path: readonly string[]): boolean;
  /** What the schema makes of a tree. */
  output(schema: GivenSchema, tree: OpenTree, name: string): SchemaOutcome;
  /** The type that the schema declares at these keys, except null; undefined if it leaves it open. */
  typeAt(schema: GivenSchema, path: readonly string[]): SchemaType | undefined;
}

/** A tree as it is written, and its values. */
export interface OpenTree {
  readonly written: ConfigNode;
  /** With interpolations resolved; undefined where that is not possible yet. */
  readonly resolved: () => ConfigNode | undefined;
}

/** The tree with what its schema gives, if that is known yet, and whether the schema need not be asked again. */
export interface SchemaOutcome extends Output {
  readonly isFinal: boolean;
  readonly issues: readonly SchemaIssue[];
}

/** Where schemas come from. */
export interface SchemaReading {
  /** Makes what compiles a JSON Schema, when the first one is checked and not before. */
  readonly ajvOf: (schema: JsonSchema) => { readonly compile: CompileSchema };
  /**
   * The JSON Schema in a file.
   * @throws ConfigError `schema.invalid`
   */
  readonly readFile: (path: string) => JsonSchema;
}

/** A reader that reads and compiles each schema once. */
export function createConfigReader({ ajvOf, readFile }: SchemaReading): ConfigReader {
  const files = new Map<string, JsonSchema>();
  const loaded = (schema: GivenSchema): JsonSchema | StandardValidator =>
    typeof schema === "string"
      ? getOrCreate(files, schema, () => readFile(schema))
      : (schema as JsonSchema | StandardValidator);
  const compiled = new Map<JsonSchema, ValidateFunction>();
  const compile = (schema: JsonSchema): ValidateFunction =>
    getOrCreate(compiled, schema, () => ajvOf(schema).compile(schema));
  const converted = new Map<StandardValidator, JsonSchema | undefined>();
  const asJson = (schema: JsonSchema | StandardValidator): JsonSchema =>
    (isStandardValidator(schema)
      ? getOrCreate(converted, schema, () => jsonSchemaOf(schema))
      : schema) ?? true;
  return {
    problems(givenSchema, tree) {
      const schema = loaded(givenSchema);
      return isStandardValidator(schema)
        ? validated(tree, schema, asJson(schema)).issues
        : treeIssues(tree, schema, compile);
    },
    secrets: (schema, tree) => secretPaths(tree, asJson(loaded(schema))),
    isSecret: (schema, path, spelling) =>
      (spelling === "exact" ? isSecretKey : isLikeSecretKey)(path, asJson(loaded(schema))),
    refusesNull: (schema, path) => refusesNull(asJson(loaded(schema)), path),
    typeAt: (schema, path) => declaredType(path, asJson(loaded(schema))),
    output(givenSchema, { resolved, written }, name) {
      const schema = loaded(givenSchema);
      const open = { tree: written, objects: NO_OBJECTS, issues: [], isFinal: false };
      if (!isStandardValidator(schema))
        return { ...open, tree: withDefaults(written, schema, name) };
      const values = resolved();
      if (values === undefined) return open;
      const { after, before, issues } = validated(values, schema, asJson(schema));
      return issues.length > 0
        ? { ...open, issues }
        : { ...withOutput(written, before, after, name), issues, isFinal: true };
    },
  };
}

const NO_OBJECTS: ReadonlyMap<string, unknown> = new Map();

const SCHEMA_TYPES = ["string", "integer", "number", "boolean", "array", "object"] as const;
type SchemaType = (typeof SCHEMA_TYPES)[number];

function declaredType(path: readonly string[], schema: JsonSchema): SchemaType | undefined {
  const parts = applicableSchemas(schema, path, {});
  const types = new Set(
    parts.flatMap(({ type }) =>
      SCHEMA_TYPES.filter(
        (schemaType) => schemaType === type || (isList(type) && type.includes(schemaType)),
      ),
    ),
  );
  const [only] = types;
  return types.size === 1 ? only : undefined;
}

interface StandardIssue {
  readonly message: string;
  /** Keys, or objects with a key. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
  /** Of zod: the unknown keys in the object at the path. */
  readonly keys?: readonly PropertyKey[];
  /** Of zod: the accepted values, also of a discriminator. */
  readonly values?: readonly unknown[];
  readonly options?: readonly unknown[];
  /** Of valibot and arktype: what is accepted, as a text. */
  readonly expected?: unknown;
}

/** The texts that a validator accepts where it refuses one, as far as it or its JSON Schema says. */
function acceptedTexts(
  { expected, options = [], values = [] }: StandardIssue,
  parts: readonly SchemaObject[],
): readonly string[] {
  const quoted = typeof expected === "string" ? expected.matchAll(/"([^"]+)"/g) : [];
  const declared = parts.flatMap((part) => [
    ...(isList(part["enum"]) ? part["enum"] : []),
    part["const"],
  ]);
  return [...values, ...options, ...declared, ...[...quoted].map(([, text]) => text)].filter(
    isText,
  );
}

/** What was probably meant by a value that a validator refuses. */
function textMeant(node: ConfigNode, accepted: readonly string[]): Pick<SchemaIssue, "nearest"> {
  if (node.kind !== "scalar" || !isText(node.value)) return {};
  const refused = node.value;
  // The text about what is accepted may quote what is refused.
  const others = accepted.filter((text) => text !== refused);
  const similar = nearest(refused, others);
  return similar === undefined ? {} : { nearest: similar };
}

/**
 * An issue at the key that it is about, which the config may not have. Validators that name unknown keys (zod:
 * `keys`) have an issue at each.
 */
function issuesAt(
  tree: ConfigNode,
  issue: StandardIssue,
  partsAt: (tokens: readonly string[]) => readonly SchemaObject[],
): readonly SchemaIssue[] {
  const { keys = [], message, path = [] } = issue;
  const tokens = path.map((part) => String(typeof part === "object" ? part.key : part));
  const unknown = keys.map((key) => [...tokens, String(key)]).filter((each) => has(tree, each));
  if (unknown.length > 0)
    return unknown.map((each) => {
      const { key, node } = nodeAt(tree, each);
      const available = propertiesOf(partsAt(tokens));
      const similar = nearest(each.at(-1) ?? "", available);
      return {
        problem: "unknown_key",
        key,
        pointer: pointerTo(each),
        expected: available.length === 0 ? "no such key" : `one of ${available.join(", ")}`,
        origin: originOf(node),
        ...(available.length > 0 && { available }),
        ...(similar !== undefined && { nearest: similar }),
      };
    });
  const { key, node } = nodeAt(tree, tokens);
  const place = { pointer: pointerTo(tokens), expected: "another value", message };
  return has(tree, tokens)
    ? [
        {
          ...place,
          problem: "invalid_value",
          key,
          value: node,
          origin: originOf(node),
          ...textMeant(node, acceptedTexts(issue, partsAt(tokens))),
        },
      ]
    : [{ ...place, problem: "missing_key", key: absentKey(tree, tokens), origin: originOf(node) }];
}

const has = (tree: ConfigNode, tokens: readonly string[]): boolean =>
  nodeAt(tree, tokens).length === tokens.length;

const absentKey = (tree: ConfigNode, tokens: readonly string[]): string => {
  const { key, length } = nodeAt(tree, tokens);
  return tokens.slice(length).reduce(joinKey, key);
};

/**
 * What a standard-schema validator finds in a tree, as plain data, and what it makes of it.
 * @throws ConfigError `schema.invalid` for an asynchronous validator
 */
function validated(
  tree: ConfigNode,
  { "~standard": { validate, vendor } }: StandardValidator,
  jsonSchema: JsonSchema,
): {
  readonly before: unknown;
  readonly after: unknown;
  readonly issues: readonly SchemaIssue[];
} {
  const before = toObject(tree);
  const result = validate(before);
  if (typeof result !== "object" || result === null || "then" in result)
    throw new ConfigError({
      code: "schema.invalid",
      message: `The schema (${vendor}) validates asynchronously, but configs are composed synchronously`,
      hint: "use a schema without asynchronous checks",
    });
  const issues = "issues" in result ? (result.issues as readonly StandardIssue[] | undefined) : [];
  // To a validator, the marker of a missing value is a text like any other.
  const missing = missingValues(tree);
  const document = (issues ?? []).length > 0 ? toJson(tree) : null;
  const partsAt = (tokens: readonly string[]) => applicableSchemas(jsonSchema, tokens, document);
  const found = (issues ?? []).flatMap((issue) => issuesAt(tree, issue, partsAt));
  const all = [
    ...[...missing].map(
      ([pointer, node]): SchemaIssue => ({
        problem: "missing_value",
        key: nodeAt(tree, pointerTokens(pointer)).key,
        pointer,
        value: node,
        expected: "a value: it is mandatory",
        origin: node.origin,
      }),
    ),
    ...found.filter(({ pointer }) => !missing.has(pointer)),
  ];
  return { before, after: "value" in result ? result.value : before, issues: all };
}

/** The keys from the root to a secret value. */
type SecretPath = readonly string[];

/**
 * The values that a JSON Schema marks secret: `writeOnly: true` (a value that is given and never shown), or the format
 * `password`. Everything below a secret map or list is secret too.
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

/** Whether a value at these keys would be secret in any tree. */
export function isSecretKey(path: readonly string[], schema: JsonSchema): boolean {
  let parts = schemasAtRoot(schema, undefined);
  if (parts.some(marksSecret)) return true;
  for (const name of path) {
    parts = schemasBelow(parts, name, schema, undefined);
    if (parts.some(marksSecret)) return true;
  }
  return false;
}

/** Whether keys are those of a secret, or would be, were they not misspelt or without those around it. */
export function isLikeSecretKey(path: readonly string[], schema: JsonSchema): boolean {
  let parts = schemasAtRoot(schema, undefined);
  if (parts.some(marksSecret)) return true;
  let isDeclared = true;
  for (const name of path) {
    const names = propertiesOf(parts);
    const meant = names.includes(name) ? undefined : nearest(name, names);
    isDeclared &&= meant === undefined;
    parts = schemasBelow(parts, meant ?? name, schema, undefined);
    if (parts.some(marksSecret)) return true;
  }
  const last = path.at(-1);
  return (
    (parts.length === 0 || !isDeclared) &&
    last !== undefined &&
    nearest(last, secretNames(schema)) !== undefined
  );
}

const propertiesOf = (parts: readonly SchemaObject[]): readonly string[] =>
  parts.flatMap((part) => Object.keys(objectOf(part["properties"]) ?? {}));

/** The names of the properties that a schema marks secret, at any depth. */
function secretNames(schema: JsonSchema): readonly string[] {
  const names = new Set<string>();
  const seen = new Set<SchemaObject>();
  const visit = (parts: readonly SchemaObject[]): void => {
    const unseen = parts.filter((part) => !seen.has(part));
    for (const part of unseen) seen.add(part);
    for (const name of propertiesOf(unseen)) {
      const below = schemasBelow(unseen, name, schema, undefined);
      if (below.some(marksSecret)) names.add(name);
      else visit(below);
    }
  };
  visit(schemasAtRoot(schema, undefined));
  return [...names];
}

const marksSecret = (part: SchemaObject): boolean =>
  part["writeOnly"] === true || part["format"] === "password";

function childrenOf(node: ConfigNode): readonly (readonly [string, ConfigNode])[] {
  if (node.kind === "list") return node.items.map((item, index) => [String(index), item]);
  if (node.kind === "map")
    return [...node.entries.values()].map(({ key, value }) => [keyText(key), value]);
  return [];
}

const GIVEN_OPTIONS: AjvOptions = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  discriminator: true,
  strictRequired: false,
  strictTypes: false,
};

/**
 * Makes an ajv for each schema.
 * @throws ConfigError `schema.invalid`, when it is called, where the program gives none
 */
export const ajvWith =
  (make: AjvFactory | undefined) =>
  (_: JsonSchema): { readonly compile: CompileSchema } => {
    if (make === undefined)
      throw new ConfigError({
        code: "schema.invalid",
        message: "A JSON Schema cannot be checked: this engine has no ajv",
        hint: "createEngine({ ajv: (options) => addFormats(new Ajv2020(options)) }) gives one; a validator such as zod needs none",
      });
    return make(GIVEN_OPTIONS) as { readonly compile: CompileSchema };
  };
