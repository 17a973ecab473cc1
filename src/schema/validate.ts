import type { ConfigNode } from "../values/node.ts";
import type { JsonSchema } from "./applicable-schemas.ts";
import { createAjv } from "./create-ajv.ts";
import type { SchemaIssue } from "./issue.ts";
import { CONFIG_AJV, treeIssues } from "./tree-issues.ts";

/**
 * Checks a resolved tree against a JSON Schema (draft 2020-12, with `format`s and OpenAPI's
 * `discriminator`) and returns every problem at once, in document order. Mandatory values that
 * nobody gave (`???`) are problems of their own kind. An empty list means that the tree fits.
 *
 * @throws ConfigError `schema.invalid` when the schema itself is none.
 */
export function validateTree(root: ConfigNode, schema: JsonSchema): readonly SchemaIssue[] {
  const ajv = createAjv(CONFIG_AJV);
  return treeIssues(root, schema, (part) => ajv.compile(part));
}
