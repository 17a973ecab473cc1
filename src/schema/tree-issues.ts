import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { ConfigError } from "../values/errors.ts";
import { nearest } from "../values/nearest.ts";
import { type ConfigNode, isMissing } from "../values/node.ts";
import { describePlace, discriminatorTags, type JsonSchema } from "./describe.ts";
import { inDocumentOrder } from "./document-order.ts";
import { alternatives, expectation } from "./expectations.ts";
import type { SchemaIssue } from "./issue.ts";
import { type JsonValue, keyText, toJson } from "./json-document.ts";
import { joinKey, nodeAt, pointerTokens } from "./pointer.ts";

/** Makes the check of a schema; throws what ajv throws where it is none. */
export type CompileSchema = (schema: JsonSchema) => ValidateFunction;

/** What ajv has to be told for schemas of configs. */
export const CONFIG_AJV: Options = {
  discriminator: true,
  strictRequired: false,
  strictTypes: false,
};

/**
 * As `validateTree`, with the ajv of the caller: where it comes from decides when it is loaded.
 *
 * @throws ConfigError `schema.invalid` when the schema itself is none.
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError({
      code: "schema.invalid",
      message: `The schema is not a valid JSON Schema: ${reason}`,
      cause,
    });
  }
}

/** All places whose value is still the missing marker, by JSON pointer. */
function missingValues(root: ConfigNode): ReadonlyMap<string, ConfigNode> {
  const found = new Map<string, ConfigNode>();
  const visit = (node: ConfigNode, pointer: string): void => {
    if (isMissing(node)) found.set(pointer, node);
    else if (node.kind === "list")
      node.items.forEach((item, index) => {
        visit(item, `${pointer}/${index}`);
      });
    else if (node.kind === "map")
      for (const { key, value } of node.entries.values())
        visit(value, `${pointer}/${keyText(key).replaceAll("~", "~0").replaceAll("/", "~1")}`);
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

/** Errors about one place belong together: `an integer, at least 1` is one expectation. */
function groupByPlace(errors: readonly ErrorObject[]): readonly (readonly ErrorObject[])[] {
  const groups = new Map<string, ErrorObject[]>();
  for (const error of errors) {
    const group = groups.get(error.instancePath);
    if (group === undefined) groups.set(error.instancePath, [error]);
    else group.push(error);
  }
  return [...groups.values()];
}

function issuesOfPlace(context: Context, group: readonly ErrorObject[]): readonly SchemaIssue[] {
  const keyErrors = group.filter((error) => keyNamed(error) !== undefined);
  const valueErrors = group.filter(
    (error) => keyNamed(error) === undefined && !isWrapper(error, group),
  );
  return [
    ...uniqueBy(keyErrors, (error) => `${saysMissing(error)} ${keyNamed(error)}`).map((error) =>
      saysMissing(error) ? missingKey(context, error) : unknownKey(context, error),
    ),
    ...(valueErrors.length === 0 ? [] : [invalidValue(context, valueErrors)]),
  ];
}

/** The key that an error is about, where it is about a key and not about a value. */
function keyNamed(error: ErrorObject): string | undefined {
  const { keyword, params } = error;
  if (keyword === "required") return String(params["missingProperty"]);
  if (keyword === "additionalProperties") return String(params["additionalProperty"]);
  if (keyword === "unevaluatedProperties") return String(params["unevaluatedProperty"]);
  if (keyword === "discriminator" && params["tagValue"] === undefined) return String(params["tag"]);
  return undefined;
}

/** Errors about a key are about one that must be there, or about one that must not. */
const saysMissing = (error: ErrorObject): boolean =>
  error.keyword === "required" || error.keyword === "discriminator";

/** `anyOf failed` says nothing once the branches have said why. */
function isWrapper(error: ErrorObject, group: readonly ErrorObject[]): boolean {
  if (!["anyOf", "oneOf", "allOf", "if", "not"].includes(error.keyword)) return false;
  return group.some(
    (other) => other !== error && other.schemaPath.startsWith(`${error.schemaPath}/`),
  );
}

function invalidValue(context: Context, errors: readonly ErrorObject[]): SchemaIssue {
  const [first] = errors;
  const pointer = first?.instancePath ?? "";
  const tokens = pointerTokens(pointer);
  const { node, key } = nodeAt(context.root, tokens);
  const place = describePlace(context.schema, tokens, context.document);
  return {
    problem: "invalid_value",
    ...discriminatorPlace(context, first, node, key, pointer),
    expected: expectedValue(context, errors, place.examples),
    ...described(place.description),
  };
}

/** A wrong discriminator is an error of the tag below the object that ajv names. */
function discriminatorPlace(
  context: Context,
  error: ErrorObject | undefined,
  node: ConfigNode,
  key: string,
  pointer: string,
): Pick<SchemaIssue, "key" | "pointer" | "value" | "origin"> {
  if (error?.keyword !== "discriminator") return { key, pointer, value: node, origin: node.origin };
  const tag = String(error.params["tag"]);
  const below = nodeAt(context.root, [...pointerTokens(pointer), tag]);
  return {
    key: below.key,
    pointer: `${pointer}/${tag}`,
    value: below.node,
    origin: below.node.origin,
  };
}

function expectedPhrase(context: Context, errors: readonly ErrorObject[]): string {
  const says = uniqueBy(errors, (error) => `${branchOf(error)} ${phrase(context, error)}`);
  const branches = new Map<string, string[]>();
  for (const error of says) {
    const branch = branchOf(error);
    branches.set(branch, [...(branches.get(branch) ?? []), phrase(context, error)]);
  }
  const always = branches.get("") ?? [];
  const choices = [...branches].filter(([branch]) => branch !== "").map(([, s]) => s.join(", "));
  return [...always, ...(choices.length === 0 ? [] : [alternatives([...new Set(choices)])])].join(
    ", ",
  );
}

function phrase(context: Context, error: ErrorObject): string {
  if (error.keyword !== "discriminator") return expectation(error);
  const branches = (error.parentSchema?.["oneOf"] ?? []) as readonly unknown[];
  const tag = String(error.params["tag"]);
  const tags = branches.flatMap((branch) => discriminatorTags(branch, tag, context.schema));
  return `one of ${tags.map(String).join(", ")}`;
}

/** The alternative (`anyOf/1`) an error belongs to; errors of different ones are joined by "or". */
const branchOf = (error: ErrorObject): string =>
  /^.*\/(?:anyOf|oneOf)\/\d+/.exec(error.schemaPath)?.[0] ?? "";

function missingKey(context: Context, error: ErrorObject): SchemaIssue {
  const name = keyNamed(error) ?? "";
  const parent = nodeAt(context.root, pointerTokens(error.instancePath));
  const tokens = [...pointerTokens(error.instancePath), name];
  const place = describePlace(context.schema, tokens, context.document);
  return {
    problem: "missing_key",
    key: joinKey(parent.key, name),
    pointer: `${error.instancePath}/${name}`,
    expected: withExamples("the key to be there", place.examples),
    ...described(place.description),
    origin: parent.node.origin,
  };
}

function unknownKey(context: Context, error: ErrorObject): SchemaIssue {
  const name = keyNamed(error) ?? "";
  const parentTokens = pointerTokens(error.instancePath);
  const { node, key } = nodeAt(context.root, [...parentTokens, name]);
  const { properties } = describePlace(context.schema, parentTokens, context.document);
  const similar = nearest(name, properties);
  return {
    problem: "unknown_key",
    key,
    pointer: `${error.instancePath}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    value: node,
    expected: properties.length === 0 ? "no keys" : `one of ${properties.join(", ")}`,
    origin: node.origin,
    available: properties,
    ...(similar === undefined ? {} : { nearest: similar }),
  };
}

/** Examples say what a regular expression wants to those who do not read it. */
function expectedValue(
  context: Context,
  errors: readonly ErrorObject[],
  examples: readonly string[],
): string {
  const others = errors.filter(({ keyword }) => keyword !== "pattern");
  if (examples.length === 0 || others.length === errors.length)
    return withExamples(expectedPhrase(context, errors), examples);
  const like = `a text like ${alternatives(examples)}`;
  return others.length === 0 ? like : `${expectedPhrase(context, others)}, ${like}`;
}

const withExamples = (expected: string, examples: readonly string[]): string =>
  examples.length === 0 ? expected : `${expected} (such as ${examples.join(", ")})`;

const described = (description: string | undefined): { readonly description?: string } =>
  description === undefined ? {} : { description };

function uniqueBy<T>(items: readonly T[], id: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [id(item), item])).values()];
}
