/** Validates a tree: the issues of ajv, at the places of the tree that they came from. */
import type { ErrorObject, ValidateFunction } from "ajv";
import { messageOf } from "../../foundation/system/builtin-types.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { ConfigError, isConfigError, nearest } from "../values/errors.ts";
import { type ConfigNode, isMissing } from "../values/node.ts";
import { discriminatorTags, type JsonSchema } from "./applicable-schemas.ts";
import { describePlace } from "./describe.ts";
import { alternatives, expectation } from "./expectations.ts";
import { inDocumentOrder, type SchemaIssue } from "./issue.ts";
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

/** Compiles a schema; throws ajv's error for an invalid one. */
export type CompileSchema = (schema: JsonSchema) => ValidateFunction;

/**
 * As `validateTree`, with an ajv from the caller, who decides when it is loaded.
 * @throws ConfigError `schema.invalid` when the schema itself is invalid.
 */
export function treeIssues(
  root: ConfigNode,
  schema: JsonSchema,
  compile: CompileSchema,
): readonly SchemaIssue[] {
  const document = toJson(root);
  const missing = missingValues(root);
  const errors = run(schema, document, compile).filter((error) => !missing.has(error.instancePath));
  const context: Context = { root, schema, document };
  return inDocumentOrder(
    [
      ...[...missing].map(([pointer, node]) => missingValue(context, pointer, node)),
      ...groupByPlace(errors).flatMap((group) => issuesOfPlace(context, group)),
    ],
    document,
  );
}

interface Context {
  readonly root: ConfigNode;
  readonly schema: JsonSchema;
  readonly document: JsonValue;
}

function run(
  schema: JsonSchema,
  document: JsonValue,
  compile: CompileSchema,
): readonly ErrorObject[] {
  try {
    const check = compile(schema);
    return check(document) ? [] : (check.errors ?? []);
  } catch (cause) {
    if (isConfigError(cause)) throw cause;
    const reason = messageOf(cause);
    throw new ConfigError({
      code: "schema.invalid",
      message: `The schema is not a valid JSON Schema: ${reason}`,
      cause,
    });
  }
}

/** All places whose value is still the missing marker, by JSON pointer. */
export function missingValues(root: ConfigNode): ReadonlyMap<string, ConfigNode> {
  const found = new Map<string, ConfigNode>();
  const visit = (node: ConfigNode, pointer: string): void => {
    if (isMissing(node)) found.set(pointer, node);
    else if (node.kind === "list")
      node.items.forEach((item, index) => {
        visit(item, `${pointer}/${index}`);
      });
    else if (node.kind === "map")
      for (const { key, value } of node.entries.values())
        visit(value, `${pointer}${pointerTo([keyText(key)])}`);
  };
  visit(root, "");
  return found;
}

function missingValue(context: Context, pointer: string, node: ConfigNode): SchemaIssue {
  const tokens = pointerTokens(pointer);
  const place = describePlace(context.schema, tokens, context.document);
  return {
    problem: "missing_value",
    key: nodeAt(context.root, tokens).key,
    pointer,
    value: node,
    expected: withExamples("a value: it is mandatory", place.examples),
    ...described(place.description),
    origin: node.origin,
  };
}

/** Groups errors about one place: `an integer, at least 1` is one expectation. */
function groupByPlace(errors: readonly ErrorObject[]): readonly (readonly ErrorObject[])[] {
  const groups = new Map<string, ErrorObject[]>();
  for (const error of errors) getOrCreate(groups, error.instancePath, () => []).push(error);
  return [...groups.values()];
}

function issuesOfPlace(context: Context, group: readonly ErrorObject[]): readonly SchemaIssue[] {
  const keyErrors = group.filter((error) => keyNamed(error) !== undefined);
  const valueErrors = group.filter(
    (error) => keyNamed(error) === undefined && !isWrapper(error, group),
  );
  const [first] = valueErrors;
  return [
    ...uniqueBy(keyErrors, (error) => `${saysMissing(error)} ${keyNamed(error)}`).map((error) =>
      saysMissing(error) ? missingKey(context, error) : unknownKey(context, error),
    ),
    ...(first === undefined ? [] : [invalidValue(context, first, valueErrors)]),
  ];
}

/** The key that an error is about, for errors about keys and not about values. */
function keyNamed(error: ErrorObject): string | undefined {
  const { keyword, params } = error;
  if (keyword === "required") return String(params["missingProperty"]);
  if (keyword === "additionalProperties") return String(params["additionalProperty"]);
  if (keyword === "unevaluatedProperties") return String(params["unevaluatedProperty"]);
  if (keyword === "discriminator" && params["tagValue"] === undefined) return String(params["tag"]);
  return undefined;
}

/** An error about a key says either that it is missing or that it is not allowed. */
const saysMissing = (error: ErrorObject): boolean =>
  error.keyword === "required" || error.keyword === "discriminator";

/** `anyOf failed` adds nothing to the errors of its branches. */
function isWrapper(error: ErrorObject, group: readonly ErrorObject[]): boolean {
  if (!["anyOf", "oneOf", "allOf", "if", "not"].includes(error.keyword)) return false;
  return group.some(
    (other) => other !== error && other.schemaPath.startsWith(`${error.schemaPath}/`),
  );
}

function invalidValue(
  context: Context,
  first: ErrorObject,
  errors: readonly ErrorObject[],
): SchemaIssue {
  const tokens = pointerTokens(first.instancePath);
  const { description, examples } = describePlace(context.schema, tokens, context.document);
  // ajv reports a wrong discriminator at the object; the error concerns the tag in it.
  const location =
    first.keyword === "discriminator" ? [...tokens, String(first.params["tag"])] : tokens;
  const { node, key } = nodeAt(context.root, location);
  return {
    problem: "invalid_value",
    key,
    pointer: pointerTo(location),
    value: node,
    origin: originOf(node),
    expected: expectedValue(context.schema, errors, examples),
    ...valueMeant(node, errors),
    ...described(description),
  };
}

/** The similar one of the texts that are accepted, or the bool or null that a text stands for elsewhere. */
function valueMeant(
  node: ConfigNode,
  errors: readonly ErrorObject[],
): Pick<SchemaIssue, "nearest"> | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "string") return undefined;
  const text = node.value;
  const paramsOf = (keyword: string, name: string): readonly unknown[] =>
    errors.flatMap((error) => (error.keyword === keyword ? [error.params[name]].flat() : []));
  const texts = paramsOf("enum", "allowedValues").filter((value) => typeof value === "string");
  const types = paramsOf("type", "type");
  const word = WORDS.find(({ type, words }) => types.includes(type) && words.test(text));
  const similar = word?.value ?? nearest(text, texts);
  return similar === undefined ? undefined : { nearest: similar };
}

/** What YAML 1.1 and Python have for bools and null. */
const WORDS = [
  { type: "boolean", words: /^(?:yes|on|y)$/i, value: "true" },
  { type: "boolean", words: /^(?:no|off|n)$/i, value: "false" },
  { type: "null", words: /^(?:none|nil)$/i, value: "null" },
] as const;

function missingKey(context: Context, error: ErrorObject): SchemaIssue {
  const name = keyNamed(error) ?? "";
  const parentTokens = pointerTokens(error.instancePath);
  const parent = nodeAt(context.root, parentTokens);
  const tokens = [...parentTokens, name];
  const place = describePlace(context.schema, tokens, context.document);
  return {
    problem: "missing_key",
    key: joinKey(parent.key, name),
    pointer: pointerTo(tokens),
    expected: withExamples("the key to be present", place.examples),
    ...described(place.description),
    origin: parent.node.origin,
  };
}

function unknownKey(context: Context, error: ErrorObject): SchemaIssue {
  const name = keyNamed(error) ?? "";
  const parentTokens = pointerTokens(error.instancePath);
  const tokens = [...parentTokens, name];
  const { node, key } = nodeAt(context.root, tokens);
  const { properties } = describePlace(context.schema, parentTokens, context.document);
  const similar = nearest(name, properties);
  return {
    problem: "unknown_key",
    key,
    pointer: pointerTo(tokens),
    value: node,
    expected: properties.length === 0 ? "no keys" : `one of ${properties.join(", ")}`,
    origin: node.origin,
    available: properties,
    ...(similar !== undefined && { nearest: similar }),
  };
}

const described = (description: string | undefined): { readonly description?: string } =>
  description === undefined ? {} : { description };

function uniqueBy<T>(items: readonly T[], id: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [id(item), item])).values()];
}

/**
 * What a schema demands of a value, as one phrase: `an integer, at least 1`.
 * @param errors all errors about the value
 * @param examples examples for people who do not read regular expressions
 */
function expectedValue(
  schema: JsonSchema,
  errors: readonly ErrorObject[],
  examples: readonly string[],
): string {
  const others = errors.filter(({ keyword }) => keyword !== "pattern");
  if (examples.length === 0 || others.length === errors.length)
    return withExamples(expectedPhrase(schema, errors), examples);
  const like = `a string like ${alternatives(examples)}`;
  return others.length === 0 ? like : `${expectedPhrase(schema, others)}, ${like}`;
}

const withExamples = (expected: string, examples: readonly string[]): string =>
  examples.length === 0 ? expected : `${expected} (such as ${examples.join(", ")})`;

function expectedPhrase(schema: JsonSchema, errors: readonly ErrorObject[]): string {
  const always = new Set<string>();
  const branches = new Map<string, Set<string>>();
  for (const error of errors) {
    const branch = branchOf(error);
    const constraints = branch === undefined ? always : (branches.get(branch) ?? new Set());
    constraints.add(phrase(schema, error));
    if (branch !== undefined) branches.set(branch, constraints);
  }
  const choices = new Set([...branches.values()].map((constraints) => [...constraints].join(", ")));
  return [...always, ...(choices.size === 0 ? [] : [alternatives([...choices])])].join(", ");
}

function phrase(schema: JsonSchema, error: ErrorObject): string {
  if (error.keyword !== "discriminator") return expectation(error);
  const branches = (error.parentSchema?.["oneOf"] ?? []) as readonly unknown[];
  const tag = String(error.params["tag"]);
  const tags = branches.flatMap((branch) => discriminatorTags(branch, tag, schema));
  return `one of ${tags.map(String).join(", ")}`;
}

/** The branch (`anyOf/1`) that an error belongs to; errors of different branches are joined by "or". */
const branchOf = (error: ErrorObject): string | undefined =>
  /^.*\/(?:anyOf|oneOf)\/\d+/.exec(error.schemaPath)?.[0];
