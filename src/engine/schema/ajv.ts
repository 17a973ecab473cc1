/** How JSON Schemas are compiled: ajv for draft 2020-12, loaded when the first schema is. */
import type { Ajv2020, Options } from "ajv/dist/2020.js";
import { ConfigError } from "../values/errors.ts";
import { requireDependency } from "../values/package-info.ts";
import type { JsonSchema } from "./applicable-schemas.ts";

/** For schemas that ship with the package, whose validity is tested and not checked by every process. */
export const SHIPPED_SCHEMAS: Options = { validateSchema: false };

/**
 * An ajv for JSON Schema 2020-12 with the standard formats, reporting all errors with their data. Loads ajv when it is
 * called, and synchronously: a composition is synchronous, and most need no ajv.
 * @throws ConfigError `schema.invalid` where this process forbids code generation, which ajv needs
 */
export function createAjv(options: Options = {}): Ajv2020 {
  requireCodeGeneration();
  const { Ajv2020 } = requireDependency("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const addFormats = requireDependency("ajv-formats") as (ajv: Ajv2020) => void;
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    // Optimizing the generated code takes longer than it saves: most processes check a few documents.
    code: { optimize: false },
    ...options,
  });
  addFormats(ajv);
  return ajv;
}

/** ajv compiles each schema to a function; where that is forbidden, its own error would print all of the code. */
function requireCodeGeneration(): void {
  try {
    Function("");
  } catch (cause) {
    throw new ConfigError({
      code: "schema.invalid",
      message: "JSON Schemas cannot be checked: this process must not generate code from strings",
      hint: "run node without --disallow-code-generation-from-strings (check NODE_OPTIONS)",
      cause,
    });
  }
}

/** Options of ajv for schemas of configs. */
export const CONFIG_AJV: Options = {
  discriminator: true,
  strictRequired: false,
  strictTypes: false,
};

/**
 * An ajv for the schema of a config. deep-profile's own schema, which each of its runs uses, is recognised by its
 * `$id`.
 */
export const createConfigAjv = (schema: JsonSchema): Ajv2020 =>
  createAjv({
    ...CONFIG_AJV,
    ...(typeof schema === "object" &&
      String(schema["$id"]).startsWith("urn:hydraconf:schemas:") &&
      SHIPPED_SCHEMAS),
  });
