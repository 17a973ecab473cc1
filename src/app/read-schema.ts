import { readFileSync } from "node:fs";
import type { JsonSchema } from "../schema/index.ts";
import { ConfigError } from "../values/errors.ts";
import type { HydraMainOptions } from "./options.ts";

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
