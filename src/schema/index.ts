/**
 * `hydraconf/schema`: checks configuration trees against JSON Schema. Loads ajv, so programs that
 * may not need it import this module when they do.
 */
export type { JsonSchema } from "./describe.ts";
export type { SchemaIssue } from "./issue.ts";
export { renderIssues, showValue } from "./render-issues.ts";
export { validateTree } from "./validate.ts";
