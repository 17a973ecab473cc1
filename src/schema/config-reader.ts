import type { ValidateFunction } from "ajv";
import type { ConfigNode } from "../values/node.ts";
import type { JsonSchema } from "./describe.ts";
import type { SchemaIssue } from "./issue.ts";
import { requireAjv } from "./require-ajv.ts";
import { isStandard, type StandardValidator, standardIssues } from "./standard-schema.ts";
import { CONFIG_AJV, treeIssues } from "./tree-issues.ts";

/** Checks trees against JSON Schemas and validators of the standard-schema interface. */
export interface ConfigReader {
  problems(schema: JsonSchema | StandardValidator, tree: ConfigNode): readonly SchemaIssue[];
}

/** Compiles each schema once. ajv is loaded with the first JSON Schema, not before. */
export function createConfigReader(): ConfigReader {
  const compiled = new Map<JsonSchema, ValidateFunction>();
  const compile = (schema: JsonSchema): ValidateFunction => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const check = requireAjv(CONFIG_AJV).compile(schema);
    compiled.set(schema, check);
    return check;
  };
  return {
    problems: (schema, tree) =>
      isStandard(schema) ? standardIssues(tree, schema) : treeIssues(tree, schema, compile),
  };
}
