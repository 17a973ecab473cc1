import { ConfigError } from "../values/errors.ts";
import type { ConfigNode } from "../values/node.ts";
import { toObject } from "../values/to-object.ts";
import type { JsonSchema } from "./applicable-schemas.ts";
import type { SchemaIssue } from "./issue.ts";
import { nodeAt, pointerTo } from "./pointer.ts";

/** A validator as every library that implements https://standardschema.dev has it. */
export interface StandardValidator {
  readonly "~standard": {
    readonly version: number;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
  };
}

interface StandardIssue {
  readonly message: string;
  /** Keys, or objects that hold one. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[];
}

export const isStandard = (schema: JsonSchema | StandardValidator): schema is StandardValidator =>
  (typeof schema === "object" || typeof schema === "function") && "~standard" in schema;

/**
 * What a standard-schema validator says of a tree, as plain data. Values that it would convert or
 * fill in are only checked: a config is what its files and overrides say.
 *
 * @throws ConfigError `schema.invalid` for one that answers later
 */
export function standardIssues(
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
  return (issues ?? []).map(({ message, path = [] }): SchemaIssue => {
    const tokens = path.map((part) => String(typeof part === "object" ? part.key : part));
    const { key, node } = nodeAt(tree, tokens);
    return {
      problem: "invalid_value",
      key,
      pointer: pointerTo(tokens),
      value: node,
      expected: "another value",
      says: message,
      origin: node.origin,
    };
  });
}
