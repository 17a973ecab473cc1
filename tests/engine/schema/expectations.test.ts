import { expect, test } from "vitest";
import { type JsonSchema, validateTree } from "../../../src/engine/schema/index.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";

test.each<[JsonSchema, string, string]>([
  [{ type: "boolean" }, "x", "true or false"],
  [{ type: "number" }, "x", "a number"],
  [{ type: ["integer", "null"] }, "x", "an integer or null"],
  [{ type: ["array", "object", "string"] }, "1", "a list, a mapping or a string"],
  [{ enum: ["a", 1, null] }, "b", "one of a, 1, null"],
  [{ const: 3 }, "4", "3"],
  [{ minimum: 3 }, "2", "at least 3"],
  [{ maximum: 3 }, "4", "at most 3"],
  [{ exclusiveMinimum: 3 }, "3", "more than 3"],
  [{ exclusiveMaximum: 3 }, "3", "less than 3"],
  [{ multipleOf: 3 }, "4", "a multiple of 3"],
  [{ type: "string", minLength: 1 }, "''", "a string that is not empty"],
  [{ type: "string", minLength: 3 }, "ab", "at least 3 characters"],
  [{ type: "string", maxLength: 1 }, "ab", "at most 1 character"],
  [{ type: "string", pattern: "^a" }, "b", "a string like /^a/"],
  [{ type: "string", format: "date" }, "today", "a string in the format date"],
  [{ type: "array", minItems: 2 }, "[1]", "a list of at least 2"],
  [{ type: "array", maxItems: 1 }, "[1, 2]", "a list of at most 1"],
  [{ type: "array", uniqueItems: true }, "[1, 1]", "a list without repetitions"],
  [{ type: "object", minProperties: 2 }, "{a: 1}", "at least 2 keys"],
  [{ type: "object", maxProperties: 1 }, "{a: 1, b: 2}", "at most 1 key"],
])("%j expects, and does not find in %s: %s", (schema, value, expected) => {
  const [issue] = validateTree(readYaml(`key: ${value}\n`), { properties: { key: schema } });
  expect(issue).toMatchObject({ key: "key", expected });
});
