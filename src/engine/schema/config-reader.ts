/** Checks composed trees against the schemas and validators of a program. */
import type { ValidateFunction } from "ajv";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { ConfigError } from "../values/errors.ts";
import type { ConfigNode } from "../values/node.ts";
import { toObject } from "../values/plain-objects.ts";
import {
  isList,
  isStandardValidator,
  type JsonSchema,
  jsonSchemaOf,
  member,
  type SchemaObject,
  type StandardValidator,
  schemasAtRoot,
  schemasBelow,
} from "./applicable-schemas.ts";
import type { AjvFactory, AjvOptions } from "./given-ajv.ts";
import type { SchemaIssue } from "./issue.ts";
import {
  type JsonValue,
  keyText,
  nodeAt,
  pointerTo,
  pointerTokens,
  toJson,
} from "./json-document.ts";
import { type CompileSchema, missingValues, treeIssues } from "./tree-issues.ts";

/** Checks trees against JSON Schemas and validators of the standard-schema interface. */
export interface ConfigReader {
  problems(schema: JsonSchema | StandardValidator, tree: ConfigNode): readonly SchemaIssue[];
  /** The values that a JSON Schema marks secret, or the one that a validator's library gives. */
  secrets(schema: JsonSchema | StandardValidator, tree: ConfigNode): readonly SecretPath[];
  /** Whether a value at these keys would be secret. */
  isSecret(schema: JsonSchema | StandardValidator, path: readonly string[]): boolean;
  /** The type that the schema declares at these keys, except null; undefined if it leaves it open. */
  typeAt(schema: JsonSchema | StandardValidator, path: readonly string[]): SchemaType | undefined;
}

/**
 * A reader that compiles each schema once.
 * @param ajvOf makes what compiles a JSON Schema, when the first one is checked and not before
 */
export function createConfigReader(
  ajvOf: (schema: JsonSchema) => { readonly compile: CompileSchema },
): ConfigReader {
  const compiled = new Map<JsonSchema, ValidateFunction>();
  const compile = (schema: JsonSchema): ValidateFunction =>
    getOrCreate(compiled, schema, () => ajvOf(schema).compile(schema));
  const converted = new Map<StandardValidator, JsonSchema | undefined>();
  const asJson = (schema: JsonSchema | StandardValidator): JsonSchema =>
    (isStandardValidator(schema)
      ? getOrCreate(converted, schema, () => jsonSchemaOf(schema))
      : schema) ?? true;
  return {
    problems: (schema, tree) =>
      isStandardValidator(schema)
        ? standardIssues(tree, schema)
        : treeIssues(tree, schema, compile),
    secrets: (schema, tree) => secretPaths(tree, asJson(schema)),
    isSecret: (schema, path) => isSecretKey(path, asJson(schema)),
    typeAt: (schema, path) => declaredType(path, asJson(schema)),
  };
}

const SCHEMA_TYPES = ["string", "integer", "number", "boolean", "array", "object"] as const;
type SchemaType = (typeof SCHEMA_TYPES)[number];

function declaredType(path: readonly string[], schema: JsonSchema): SchemaType | undefined {
  let parts = schemasAtRoot(schema, undefined);
  for (const name of path) parts = schemasBelow(parts, name, schema, undefined);
  const types = new Set(
    parts.flatMap(({ type }) =>
      SCHEMA_TYPES.filter((one) => one === type || (isList(type) && type.includes(one))),
    ),
  );
  const [only] = types;
  return types.size === 1 ? only : undefined;
}

interface StandardIssue {
  readonly message: string;
  /** Keys, or objects with a key. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
}

/**
 * The issues that a standard-schema validator finds in a tree, as plain data. Its conversions and defaults are ignored:
 * a config's values are those of its files and overrides.
 * @throws ConfigError `schema.invalid` for an asynchronous validator
 */
function standardIssues(
  tree: ConfigNode,
  { "~standard": { validate, vendor } }: StandardValidator,
): readonly SchemaIssue[] {
  const result = validate(toObject(tree));
  if (typeof result !== "object" || result === null || "then" in result)
    throw new ConfigError({
      code: "schema.invalid",
      message: `The schema (${vendor}) validates asynchronously, but configs are composed synchronously`,
      hint: "use a schema without asynchronous checks",
    });
  const issues = "issues" in result ? (result.issues as readonly StandardIssue[] | undefined) : [];
  // To a validator, the marker of a missing value is a text like any other.
  const missing = missingValues(tree);
  const found = (issues ?? []).map(({ message, path = [] }): SchemaIssue => {
    const tokens = path.map((part) => String(typeof part === "object" ? part.key : part));
    const { key, node } = nodeAt(tree, tokens);
    return {
      problem: "invalid_value",
      key,
      pointer: pointerTo(tokens),
      value: node,
      expected: "another value",
      message,
      origin: node.origin,
    };
  });
  return [
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
