/** How JSON Schemas are compiled: ajv for draft 2020-12, loaded when the first schema is. */
import type { Ajv2020, Options, ValidateFunction } from "ajv/dist/2020.js";
import { ConfigError } from "../values/errors.ts";
import { builtModule, requireDependency } from "../values/package-info.ts";
import type { JsonSchema } from "./applicable-schemas.ts";
import type { CompileSchema } from "./tree-issues.ts";

/** What a validator of ours is compiled with: it reports all errors with their data. */
export const AJV_OPTIONS: Options = { allErrors: true, verbose: true, allowUnionTypes: true };

/** A schema that ships with the package. Its validity is tested and not checked by every process. */
export interface ShippedSchema<Document = unknown> {
  /** What is compiled, or the file that it is read from. */
  readonly text: string;
  readonly options?: Options;
  readonly compile: (ajv: Ajv2020) => ValidateFunction<Document>;
}

/** For shipped schemas, beside the options of each. */
export const SHIPPED_OPTIONS: Options = { validateSchema: false };

/** The file of validators in `dist/vendor`, each by the text of its schema. */
export const COMPILED_SCHEMAS = "schemas.cjs";

/**
 * The validator of a schema that ships with the package: the one that the build made of the very same text
 * (scripts/compile-schemas.ts), since compiling takes longer than most commands take for all else; without one, ajv makes it.
 */
export function shippedValidator<Document>({
  text,
  options,
  compile,
}: ShippedSchema<Document>): ValidateFunction<Document> {
  const built = builtModule(COMPILED_SCHEMAS) as
    | Readonly<Record<string, () => ValidateFunction<Document>>>
    | undefined;
  return built?.[text]?.() ?? compile(createAjv({ ...SHIPPED_OPTIONS, ...options }));
}

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
    ...AJV_OPTIONS,
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

/** deep-profile's own schema, which each of its runs uses. */
export const ownConfigSchema = (schema: Exclude<JsonSchema, boolean>): ShippedSchema => ({
  text: JSON.stringify(schema),
  options: CONFIG_AJV,
  compile: (ajv) => ajv.compile(schema),
});

/** What compiles the schema of a config. deep-profile's own is recognised by its `$id`. */
export const createConfigAjv = (schema: JsonSchema): { readonly compile: CompileSchema } =>
  typeof schema === "object" && String(schema["$id"]).startsWith("urn:hydraconf:schemas:")
    ? { compile: () => shippedValidator(ownConfigSchema(schema)) }
    : createAjv(CONFIG_AJV);
