/**
 * Checks configuration trees against JSON Schema. Loads ajv, so programs that may not need it
 * import this module when they do.
 *
 * @module hydraconf/schema
 */
export type { JsonSchema } from "./applicable-schemas.ts";
export type { KeyDescription } from "./describe-key.ts";
export { describeKey } from "./describe-key.ts";
export type { SchemaIssue } from "./issue.ts";
export { renderIssues } from "./render-issues.ts";
export { showValue } from "./show-value.ts";
export { validateTree } from "./validate.ts";
