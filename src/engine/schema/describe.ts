/** What a schema says of one place: type, description, allowed values, examples. */

import { fromCode } from "../values/origin.ts";
import { fromObject } from "../values/plain-objects.ts";
import {
  applicableSchemas,
  isList,
  isText,
  type JsonSchema,
  objectOf,
} from "./applicable-schemas.ts";
import type { JsonValue } from "./json-document.ts";
import { showValue } from "./show-value.ts";

/** The description of one place of a document by its schema, for people. */
export interface PlaceDescription {
  readonly description?: string;
  readonly examples: readonly string[];
  /** Names of the properties that the schema allows there. */
  readonly properties: readonly string[];
}

/** Reads the annotations that apply to a place. */
export function describePlace(
  schema: JsonSchema,
  tokens: readonly string[],
  document: JsonValue,
): PlaceDescription {
  const applicable = applicableSchemas(schema, tokens, document);
  const description = applicable.map((part) => part["description"]).find(isText);
  return {
    ...(description !== undefined && { description }),
    examples:
      applicable
        .map((part) => part["examples"])
        .find(isList)
        ?.map(exampleText) ?? [],
    properties: [
      ...new Set(applicable.flatMap((part) => Object.keys(objectOf(part["properties"]) ?? {}))),
    ],
  };
}

/** Texts as they are, as examples of options are often written in the form of an override. */
const exampleText = (example: unknown): string =>
  isText(example) ? example : showValue(fromObject(example, fromCode("the schema")));

/** The values that a place may have, where they can be listed: constants, enumerations, booleans. */
export function valuesAt(
  schema: JsonSchema,
  tokens: readonly string[],
  document: JsonValue,
): readonly unknown[] {
  const applicable = applicableSchemas(schema, tokens, document);
  return [
    ...new Set(
      applicable.flatMap((part) => [
        ...("const" in part ? [part["const"]] : []),
        ...(isList(part["enum"]) ? part["enum"] : []),
        ...(part["type"] === "boolean" ? [true, false] : []),
      ]),
    ),
  ];
}
