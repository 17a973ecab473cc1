import { readFileSync } from "node:fs";
import type { JsonSchema } from "../schema/index.ts";
import { ConfigError } from "../values/errors.ts";
import type { HydraMainOptions } from "./options.ts";

/** Undefined for a schema without secrets, and for one that cannot be read: that is told elsewhere. */
export function readIfItMarksSecrets(
  schema: NonNullable<HydraMainOptions["schema"]>,
): JsonSchema | undefined {
  try {
    const text = typeof schema === "string" ? readFileSync(schema, "utf8") : JSON.stringify(schema);
    if (!/"writeOnly"|"password"/.test(text)) return undefined;
    return typeof schema === "string" ? JSON.parse(text) : schema;
  } catch {
    return undefined;
  }
}

/** @throws ConfigError `schema.invalid` for a file that cannot be read */
export function readSchema(schema: NonNullable<HydraMainOptions["schema"]>): JsonSchema {
  if (typeof schema !== "string") return schema;
  try {
    return JSON.parse(readFileSync(schema, "utf8"));
  } catch (cause) {
    throw new ConfigError({
      code: "schema.invalid",
      message: `The schema '${schema}' cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    });
  }
}
