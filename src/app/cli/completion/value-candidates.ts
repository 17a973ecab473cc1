/** Completion of values, and of keys after `+`, `++` and `~`. */
import type { JsonSchema } from "../../../engine/schema/applicable-schemas.ts";
import { describePlace, valuesAt } from "../../../engine/schema/describe.ts";
import type { JsonValue } from "../../../engine/schema/json-document.ts";
import { splitKey } from "../../../engine/values/key-path.ts";
import { type ConfigNode, enumOf, type ScalarValue } from "../../../engine/values/node.ts";
import { toObject } from "../../../engine/values/plain-objects.ts";
import { pyStr } from "../../../engine/values/python-text.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import { type ComposedTree, matchKeys } from "./completion-tree.ts";

/** The facts of the program's schema, if it has one. */
export interface SchemaKnowledge {
  /** The listed values and examples of a key, in the notation of overrides. */
  values(key: string): readonly string[];
  description(key: string): string | undefined;
  /** Names of the properties of a map. */
  properties(key: string): readonly string[];
}

export function schemaKnowledge(schema: JsonSchema, tree: ComposedTree): SchemaKnowledge {
  let plain: JsonValue | undefined;
  const document = (): JsonValue => {
    plain ??= toObject(tree.composition().config) as JsonValue;
    return plain;
  };
  const tokens = (key: string) => (key === "" ? [] : splitKey(key, tree.context.dialect));
  return {
    values: (key) => [
      ...valuesAt(schema, tokens(key), document()).filter(isPlain).map(String),
      ...describePlace(schema, tokens(key), document()).examples.filter((text) => PLAIN.test(text)),
    ],
    description: (key) => describePlace(schema, tokens(key), document()).description,
    properties: (key) => describePlace(schema, tokens(key), document()).properties,
  };
}

/** Lists and values that need quotes are not offered. */
const PLAIN = /^[\w.:/@%+-]+$/;
const isPlain = (value: unknown): boolean => typeof value !== "object" || value === null;

/** Possible values of a key: the current one, both of a boolean's, and those that the schema lists. */
export function valueCandidates(
  tree: ComposedTree,
  word: string,
  schema: SchemaKnowledge | undefined,
): readonly Candidate[] {
  const match = /^((?:\+\+?)?)([\w.[\]-]+)=/.exec(word);
  if (match === null) return [];
  const [lead, , key = ""] = match;
  const node = selectNode(tree.config(), key, tree.context, { throwOnResolutionFailure: false });
  const written = node?.kind === "scalar" && node.value !== null ? [node.value] : [];
  const listed = written.some((value) => typeof value === "boolean") ? ["true", "false"] : [];
  const listedBySchema = key.startsWith("hydra.") ? [] : (schema?.values(key) ?? []);
  const texts = [
    ...written.map(typedText),
    ...listed,
    ...memberNames(node, word.slice(match[0].length)),
    ...listedBySchema,
  ];
  return matching(
    word,
    [...new Set(texts)].map((text) => candidate(`${lead}${text}`)),
  );
}

/** The members of an enum; with the enum's name before them once it was typed. */
function memberNames(node: ConfigNode | undefined, typed: string): readonly string[] {
  if (node?.type?.kind !== "enum") return [];
  const { members, name } = node.type;
  const prefix = `${name}.`;
  return typed.startsWith(prefix) ? members.map((member) => `${prefix}${member}`) : members;
}

/**
 * Whether a match of Hydra's is an enum member with the enum's name before it (`act=Act.RELU`), which is offered by its own name.
 */
export function repeatsMember(tree: ComposedTree, match: string): boolean {
  const [, key = "", value = ""] = /^([\w.[\]-]+)=(.+)$/.exec(match) ?? [];
  if (key === "") return false;
  const node = selectNode(tree.config(), key, tree.context, { throwOnResolutionFailure: false });
  const type = node && enumOf(node);
  return type !== undefined && value.startsWith(`${type.name}.`);
}

/** In the notation of overrides: booleans in lower case. */
const typedText = (value: ScalarValue): string =>
  typeof value === "boolean" ? String(value) : pyStr(value);

/**
 * Keys after a prefix that Hydra does not complete: `++db.`, `~db.`, and after `+` keys of the schema that the config
 * does not have.
 */
export function prefixedKeys(
  tree: ComposedTree,
  word: string,
  schema: SchemaKnowledge | undefined,
): readonly Candidate[] {
  const [prefix = ""] = /^(\+\+|\+|~)/.exec(word) ?? [];
  const key = word.slice(prefix.length);
  if (prefix === "" || /[=/@]/.test(key)) return [];
  if (prefix === "+") return absentKeys(tree, key, schema);
  const matches = matchKeys(tree.config(), key, tree.context);
  return matches.map((match) =>
    candidate(`${prefix}${prefix === "~" ? match.replace(/=$/, "") : match}`),
  );
}

function absentKeys(
  tree: ComposedTree,
  key: string,
  schema: SchemaKnowledge | undefined,
): readonly Candidate[] {
  if (schema === undefined) return [];
  const parent = key.slice(0, Math.max(0, key.lastIndexOf(".")));
  const node = selectNode(tree.config(), parent, tree.context);
  if (node?.kind !== "map") return [];
  return schema
    .properties(parent)
    .filter((name) => !node.entries.has(name))
    .map((name) => (parent === "" ? name : `${parent}.${name}`))
    .filter((name) => name.startsWith(key))
    .map((name) => candidate(`+${name}=`, schema.description(name)));
}

/** Adds a description: that of the schema for a key, or else its value; for a group its options. */
export function described(
  each: Candidate,
  tree: ComposedTree,
  schema: SchemaKnowledge | undefined,
): Candidate {
  if (each.description !== undefined) return each;
  const match = /^(?:\+\+|[+~])?([\w./@[\]-]+?)([.=/]?)$/.exec(each.text);
  if (match === null) return each;
  const [, name = "", ending = ""] = match;
  const text =
    ending === "." || !isGroupName(tree, name)
      ? keyText(name, tree, schema)
      : groupText(name, tree);
  return candidate(each.text, text);
}

const isGroupName = (tree: ComposedTree, name: string): boolean =>
  tree.groups().groupExists(name.replace(/@.*/, ""));

const groupText = (name: string, tree: ComposedTree): string =>
  tree.groups().list(name.replace(/@.*/, ""), "config").join(", ");

function keyText(
  key: string,
  tree: ComposedTree,
  schema: SchemaKnowledge | undefined,
): string | undefined {
  try {
    const described = key.startsWith("hydra.") ? undefined : schema?.description(key);
    if (described !== undefined) return described;
    const node = selectNode(tree.config(), key, tree.context, { throwOnResolutionFailure: false });
    return node?.kind === "scalar" ? pyStr(node) : undefined;
  } catch {
    // An error only omits the description.
    return undefined;
  }
}
