import type { ErrorObject } from "ajv";
import { discriminatorTags, type JsonSchema } from "./applicable-schemas.ts";
import { alternatives, expectation } from "./expectations.ts";

/**
 * What a schema wants of a value, as one phrase: `an integer, at least 1`.
 * @param errors all that it says against the value that is there
 * @param examples say what a regular expression wants to those who do not read it
 */
export function expectedValue(
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

export const withExamples = (expected: string, examples: readonly string[]): string =>
  examples.length === 0 ? expected : `${expected} (such as ${examples.join(", ")})`;

function expectedPhrase(schema: JsonSchema, errors: readonly ErrorObject[]): string {
  const always = new Set<string>();
  const branches = new Map<string, Set<string>>();
  for (const error of errors) {
    const branch = branchOf(error);
    const says = branch === undefined ? always : (branches.get(branch) ?? new Set());
    says.add(phrase(schema, error));
    if (branch !== undefined) branches.set(branch, says);
  }
  const choices = new Set([...branches.values()].map((says) => [...says].join(", ")));
  return [...always, ...(choices.size === 0 ? [] : [alternatives([...choices])])].join(", ");
}

function phrase(schema: JsonSchema, error: ErrorObject): string {
  if (error.keyword !== "discriminator") return expectation(error);
  const branches = (error.parentSchema?.["oneOf"] ?? []) as readonly unknown[];
  const tag = String(error.params["tag"]);
  const tags = branches.flatMap((branch) => discriminatorTags(branch, tag, schema));
  return `one of ${tags.map(String).join(", ")}`;
}

/** The alternative (`anyOf/1`) an error belongs to; errors of different ones are joined by "or". */
const branchOf = (error: ErrorObject): string | undefined =>
  /^.*\/(?:anyOf|oneOf)\/\d+/.exec(error.schemaPath)?.[0];
