import { ConfigError } from "../../values/errors.ts";
import { requireDependency } from "../../values/package-info.ts";

/**
 * TypeScript types of a JSON Schema. The library that makes them is loaded here and nowhere else: it
 * brings a formatter along.
 *
 * @param name of the type of the whole, unless the schema has a `title`
 * @throws ConfigError `schema.invalid`
 */
export async function typesOf(schema: object, name: string): Promise<string> {
  const { compile } = requireDependency(
    "json-schema-to-typescript",
  ) as typeof import("json-schema-to-typescript");
  try {
    return await compile(schema, name, {
      bannerComment: "// Made by `hydraconf schema --types`. Make it again instead of editing it.",
      additionalProperties: false,
      // References lead nowhere outside of the schema.
      $refOptions: { resolve: { external: false } },
    });
  } catch (cause) {
    throw new ConfigError({
      code: "schema.invalid",
      message: `Cannot make types from the schema: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    });
  }
}
