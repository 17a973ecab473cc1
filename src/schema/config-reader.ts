import type { ValidateFunction } from "ajv";
import { getOrCreate } from "../system/get-or-create.ts";
import type { ConfigNode } from "../values/node.ts";
import type { JsonSchema } from "./applicable-schemas.ts";
import type { SchemaIssue } from "./issue.ts";
import { requireAjv } from "./require-ajv.ts";
import { isSecretKey, type SecretPath, secretPaths } from "./secrets.ts";
import { isStandard, type StandardValidator, standardIssues } from "./standard-schema.ts";
import { CONFIG_AJV, treeIssues } from "./tree-issues.ts";

/** Checks trees against JSON Schemas and validators of the standard-schema interface. */
export interface ConfigReader {
  problems(schema: JsonSchema | StandardValidator, tree: ConfigNode): readonly SchemaIssue[];
  /** What a JSON Schema marks secret; a validator says nothing of it. */
  secrets(schema: JsonSchema | StandardValidator, tree: ConfigNode): readonly SecretPath[];
  /** Whether a value at these keys would be secret. */
  isSecret(schema: JsonSchema | StandardValidator, path: readonly string[]): boolean;
}

/** Compiles each schema once. ajv is loaded with the first JSON Schema, not before. */
export function createConfigReader(): ConfigReader {
  const compiled = new Map<JsonSchema, ValidateFunction>();
  const compile = (schema: JsonSchema): ValidateFunction =>
    getOrCreate(compiled, schema, () => requireAjv(CONFIG_AJV).compile(schema));
  return {
    problems: (schema, tree) =>
      isStandard(schema) ? standardIssues(tree, schema) : treeIssues(tree, schema, compile),
    secrets: (schema, tree) => (isStandard(schema) ? [] : secretPaths(tree, schema)),
    isSecret: (schema, path) => !isStandard(schema) && isSecretKey(path, schema),
  };
}
