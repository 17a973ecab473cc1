import { readFileSync } from "node:fs";
import type { JsonSchema } from "../schema/index.ts";
import { ConfigError } from "../values/errors.ts";
import type { HydraMainOptions } from "./options.ts";

type Schema = NonNullable<HydraMainOptions["schema"]>;

/**
 * The schema if it marks anything as secret. A schema that cannot be read is refused even if nothing
 * is checked against it: otherwise nobody would know which values may be shown.
 *
 * @throws ConfigError `schema.invalid` for a file that cannot be read
 */
export function schemaThatMarksSecrets(schema: Schema): JsonSchema | undefined {
  const text = typeof schema === "string" ? textOf(schema) : JSON.stringify(schema);
  return /"writeOnly"|"password"/.test(text) ? parsed(schema, text) : undefined;
}

/** @throws ConfigError `schema.invalid` for a file that cannot be read */
export const readSchema = (schema: Schema): JsonSchema =>
  typeof schema === "string" ? parsed(schema, textOf(schema)) : schema;

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function parsed(schema: Schema, text: string): JsonSchema {
  if (typeof schema !== "string") return schema;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(schema, cause);
  }
}

const unreadable = (path: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: "schema.invalid",
    message: `The schema '${path}' cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "the program gives it in `schema`, relative to its own module",
    cause,
  });
